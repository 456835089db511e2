# The DEB, by CPack from the install rules.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME resolv-guardian)
set(CPACK_PACKAGE_VENDOR "resolv-guardian")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "keeps the nameservers of this host in the required order")
set(CPACK_PACKAGE_DESCRIPTION "Network managers, DHCP clients and VPNs rewrite /etc/resolv.conf whenever a
lease or a link changes. resolv-guardian waits for such a write and puts the
required order back at once, with the writer's own servers behind the required
ones. As it is installed it only observes.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF) # the linker did
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
# CPack: absolute destinations (/etc) are wanted, not an accident.
set(CPACK_ERROR_ON_ABSOLUTE_INSTALL_DESTINATION OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "resolv-guardian maintainers <resolv-guardian@localhost>" CACHE STRING
    "Who answers for the DEB")
foreach(pair x86_64=amd64 aarch64=arm64 ppc64le=ppc64el s390x=s390x)
  if(pair MATCHES "^${CMAKE_SYSTEM_PROCESSOR}=(.*)")
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${CMAKE_MATCH_1})
  endif()
endforeach()
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/adjust.cmake)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(script conffiles postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/${script})
endforeach()
include(CPack)
