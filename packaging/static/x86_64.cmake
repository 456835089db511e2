set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(RG_TRIPLET x86_64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
