# Debian's cross compilers. The headers of Boost, fmt and toml++ are those of this machine: /usr/include is the last folder that
# such a compiler looks into, behind its own libraries. As -I or -isystem it would be the first and bring this machine's libc, so
# CMake must know that it is there by itself (it leaves out what the compiler has implicitly).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_CXX_COMPILER ${RG_TRIPLET}-g++)
set(BOOST_INCLUDEDIR /usr/include)
set(Boost_NO_BOOST_CMAKE ON) # this machine's configuration of Boost names this machine's folder of libraries
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
