import { shellWord } from "../text/printing.ts";
import { textOr, type ErrorEntries } from "./entry.ts";

const PLUGINS_HINT =
  "See how each plugin stands with  cem doctor  ; it is named under plugins in config.yaml.";

/** Errors of configuration, files and the command line. */
export const CONFIGURATION_ERRORS = {
  CONFIG_INVALID: {
    meaning: "`config.yaml`, `.env` or a variable has an unknown setting or a value that is not allowed.",
    fix: "Correct each line that the message names.",
  },
  CONFIG_NOT_FOUND: {
    meaning: "The configuration file does not exist.",
    fix: "Make a configuration with `cem init` or name another with `--config`.",
    hint: "fix",
  },
  FOLDER_UNTRUSTED: {
    meaning:
      "Files of a folder that you have not trusted want to do something on this host, or have a setting that could do harm.",
    fix: "Look at it with `cem trust`, and say yes if you would run it by hand.",
    hint: ({ folder }) => {
      const place = textOr(folder, "");
      return `See what it asks for and allow it with  cem trust${place === "" ? "" : ` ${shellWord(place)}`}`;
    },
  },
  LOG_UNWRITABLE: {
    meaning: "The log file can't be written.",
    fix: "Set `logging.file` to a file that can be written.",
    hint: "fix",
  },
  OPTION_INVALID: {
    meaning: "An option of a function is unknown or has a value of the wrong kind.",
    fix: "Take the name that the message suggests.",
  },
  PLUGIN_FAILED: {
    meaning: "A plugin threw, or gave something that can't be used. It was left out.",
    fix: "`cem doctor` shows how each one stands.",
    hint: () => PLUGINS_HINT,
  },
  PLUGIN_INCOMPATIBLE: {
    meaning: "A plugin is made for another version.",
    fix: "Update the plugin, or cem, so that both have the same version of the ports.",
    hint: "fix",
  },
  PLUGIN_INVALID: {
    meaning: "The plugin's file or package is not there, is not a plugin, or refuses its options.",
    fix: "Correct its entry under `plugins`.",
    hint: () => PLUGINS_HINT,
  },
  RECORDING_INVALID: {
    meaning: "The record of a run does not hold its whole code, so it can't be run again.",
    fix: "Run the task or the program itself again.",
    hint: "fix",
  },
  DOCTOR_FOUND_BROKEN: {
    meaning: "Something that is set up does not work.",
    fix: "Each line that it prints has the way out.",
  },
  FILE_NOT_FOUND: { meaning: "The file does not exist.", fix: "Check the name and the folder you are in." },
  FILE_UNREADABLE: {
    meaning: "The file is a folder, or you may not read it.",
    fix: "Check the name and its rights.",
  },
  INPUT_EMPTY: { meaning: "The input is empty.", fix: "Give some input." },
  INPUT_NOT_UTF8: { meaning: "The input is not UTF-8 text.", fix: "Convert it to UTF-8." },
  INPUT_TOO_LARGE: {
    meaning: "The input is larger than its limit.",
    fix: "Shorten it, or put the data into a file of the workspace.",
  },
  INTERRUPTED: {
    meaning: "The command was interrupted by a signal.",
    cause: "Ctrl-C, or a signal of the system. Nothing is left running.",
    fix: "Start it again when you like.",
  },
  NODE_TOO_OLD: { meaning: "This Node.js is older than 22.19.", fix: "Install a newer one." },
  NOT_WRITABLE: {
    meaning: "The file or folder can't be written.",
    fix: "Check its rights, or work in another folder.",
  },
  USAGE: {
    meaning: "A command, an option or an argument is unknown or missing.",
    fix: "`cem help <command>` shows all of them, with examples.",
  },
} satisfies ErrorEntries;
