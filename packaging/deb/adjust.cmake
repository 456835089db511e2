# What Debian wants otherwise, between the installation and the archive: zsh looks for a package's completions in
# vendor-completions, and manual pages are compressed (policy 12.1; without a date, for the same bytes each time).
set(data ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
file(RENAME ${data}/zsh/site-functions ${data}/zsh/vendor-completions)
file(GLOB pages ${data}/man/man*/*.[0-9])
execute_process(COMMAND gzip -9 --no-name ${pages} COMMAND_ERROR_IS_FATAL ANY)
