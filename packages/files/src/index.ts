export { appendPrivately, openForAppending } from "./append.ts";
export { isTemporaryFile, PRIVATE_FILE, PRIVATE_FOLDER, replaceFile } from "./replace-file.ts";
export type { ReplaceOptions } from "./replace-file.ts";
