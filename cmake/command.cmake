# Copies the command FROM to TO/bin, if it has changed, and writes its completions and manual pages to TO/completions and TO/man. EMULATOR, a
# list, runs commands of another processor.
set(command "${TO}/bin/thorn")
file(MAKE_DIRECTORY "${TO}/bin" "${TO}/completions" "${TO}/man")
file(COPY_FILE "${FROM}" "${command}" RESULT failed ONLY_IF_DIFFERENT)
if(failed)
  message(FATAL_ERROR "thorn: ${FROM} is not copied: ${failed}")
endif()
foreach(shell bash zsh fish)
  execute_process(COMMAND ${EMULATOR} "${command}" completions ${shell} OUTPUT_FILE "${TO}/completions/${shell}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${EMULATOR} "${command}" man --output "${TO}/man" COMMAND_ERROR_IS_FATAL ANY)
