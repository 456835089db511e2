set(CMAKE_SYSTEM_PROCESSOR s390x)
set(RG_TRIPLET s390x-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
