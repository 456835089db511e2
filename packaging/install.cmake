# What stands where on a host. The unit names /usr/sbin/resolv-guardian and the program /etc/resolv-guardian: both are wrong under
# /usr/local, CMake's default.
if(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT)
  set_property(CACHE CMAKE_INSTALL_PREFIX PROPERTY VALUE /usr)
endif()
include(GNUInstallDirs)
set(packaging ${CMAKE_CURRENT_LIST_DIR})
set(data ${CMAKE_INSTALL_DATADIR})

install(TARGETS resolv-guardian DESTINATION ${CMAKE_INSTALL_SBINDIR})
install(FILES ${packaging}/etc/config.toml DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/resolv-guardian)
install(DIRECTORY DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/resolv-guardian/config.d)
install(FILES ${packaging}/systemd/resolv-guardian.service ${packaging}/systemd/resolv-guardian-wait.service
        DESTINATION lib/systemd/system)
install(FILES ${packaging}/85-resolv-guardian.preset DESTINATION lib/systemd/system-preset)
install(FILES ${packaging}/completions/resolv-guardian.bash RENAME resolv-guardian
        DESTINATION ${data}/bash-completion/completions)
install(FILES ${packaging}/completions/_resolv-guardian DESTINATION ${data}/zsh/site-functions)
install(FILES ${packaging}/completions/resolv-guardian.fish DESTINATION ${data}/fish/vendor_completions.d)
file(GLOB documents CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/*.md)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${packaging}/copyright ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB policies CONFIGURE_DEPENDS ${packaging}/openshift/*.toml ${packaging}/openshift/*.bu ${packaging}/azure/*.toml)
install(FILES ${packaging}/etc/config.toml ${policies} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY ${packaging}/kubernetes DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
# Not beside them: images are made without documentation.
install(FILES ${packaging}/systemd/wait-for-order.conf DESTINATION ${data}/resolv-guardian)

execute_process(COMMAND ${packaging}/source-date OUTPUT_VARIABLE RG_SOURCE_DATE OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
find_program(SCDOC scdoc)
foreach(page resolv-guardian.8 resolv-guardian.toml.5)
  if(NOT SCDOC)
    message(STATUS "No manual page ${page}: scdoc is not installed")
    continue()
  endif()
  set(source ${CMAKE_SOURCE_DIR}/docs/man/${page}.scd)
  add_custom_command(OUTPUT ${page} DEPENDS ${source} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -E env SOURCE_DATE_EPOCH=${RG_SOURCE_DATE} sh -c "\"$0\" <\"$1\" >\"$2\""
                             ${SCDOC} ${source} ${page})
  list(APPEND pages ${CMAKE_BINARY_DIR}/${page})
  string(REGEX MATCH "[0-9]$" section ${page})
  install(FILES ${CMAKE_BINARY_DIR}/${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
add_custom_target(man ALL DEPENDS ${pages})

add_custom_target(dist COMMAND ${packaging}/dist USES_TERMINAL COMMENT "The source archive: dist/resolv-guardian-VERSION.tar.gz")
