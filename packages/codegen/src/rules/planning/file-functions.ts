/** Functions of `node:fs/promises` that programs use and that change nothing. */
export const READING = ["readFile", "readdir", "stat", "access"] as const;
const WRITING = ["writeFile", "appendFile", "copyFile", "mkdir", "rm"] as const;

export type FileFunction = (typeof READING | typeof WRITING)[number];

/** The names that a program's variables leave to functions of `node:fs/promises`. */
export const FILE_FUNCTIONS: readonly string[] = [...READING, ...WRITING];
