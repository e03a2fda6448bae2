// The names of all built-in tools, available without loading the tools.

export const builtinNames: readonly string[] = [
  "activate_skill",
  "ask",
  "check_command",
  "compact_memory",
  "delegate",
  "delegate_status",
  "edit_file",
  "file_info",
  "find_files",
  "finish",
  "list_files",
  "read_artifact",
  "read_file",
  "read_image",
  "search_files",
  "shell",
  "write_file",
  "write_todos",
]
