/** Text files of the workspace: read, write and list them. Nothing outside of /workspace can be reached. */
export { list_directory } from "./list_directory.ts";
export { read_file } from "./read_file.ts";
export { write_file } from "./write_file.ts";
