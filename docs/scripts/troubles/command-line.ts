import type { Troubles } from "./trouble.ts";

/** Errors of the command line. */
export const COMMAND_LINE_TROUBLES = {
  BENCH_RUN_FAILED: {
    cause: "A program of the benchmark failed, so no time is reported.",
    wayOut: "Run that program alone, or `cem doctor`.",
  },
  DOCTOR_FOUND_BROKEN: {
    cause: "`cem doctor` found something that is set up and does not work.",
    wayOut: "Each line that it prints has the way out.",
  },
  FILE_NOT_FOUND: { cause: "There is no such file.", wayOut: "Check the name and the folder you are in." },
  FILE_UNREADABLE: {
    cause: "The file is a folder, or you may not read it.",
    wayOut: "Check the name and its rights.",
  },
  INPUT_EMPTY: { cause: "Nothing came on stdin, or the file is empty.", wayOut: "Give some input." },
  INPUT_NOT_UTF8: { cause: "The input is no UTF-8.", wayOut: "Convert it to UTF-8." },
  INPUT_TOO_LARGE: {
    cause: "Code, a task or another input is longer than it may be.",
    wayOut: "Shorten it, or put the data into a file of the workspace.",
  },
  INTERRUPTED: {
    cause: "Ctrl-C, or a signal of the system. Nothing is left running.",
    wayOut: "Start it again when you like.",
  },
  NODE_TOO_OLD: { cause: "This Node.js is older than 22.19.", wayOut: "Install a newer one." },
  NOT_WRITABLE: {
    cause: "A file or folder can't be written.",
    wayOut: "Check its rights, or work in another folder.",
  },
  USAGE: {
    cause: "A command, an option or an argument is unknown or missing.",
    wayOut: "`cem help <command>` shows all of them, with examples.",
  },
} satisfies Troubles;
