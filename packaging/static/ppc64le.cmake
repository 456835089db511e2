set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(RG_TRIPLET powerpc64le-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
