import type { Troubles } from "./trouble.ts";

/** Errors of configuration, options and files. */
export const CONFIGURATION_TROUBLES = {
  CONFIG_INVALID: {
    cause: "`config.yaml`, `.env` or a variable has an unknown setting or a value that is not allowed.",
    wayOut: "Mend each line that the message names.",
  },
  CONFIG_NOT_FOUND: {
    cause: "`--config` or `CEM_CONFIG` names a file that is not there.",
    wayOut: "Correct the name, or make one with `cem init`.",
  },
  FOLDER_UNTRUSTED: {
    cause:
      "Files of a folder that you have not trusted want to do something on this host, or have a setting that could do harm.",
    wayOut: "Look at it with `cem trust`, and say yes if you would run it by hand.",
  },
  LOG_UNWRITABLE: { cause: "The log file can't be written.", wayOut: "Set `logging.file` to one that can." },
  OPTION_INVALID: {
    cause: "A function was given an option that it does not have, or a value of the wrong kind.",
    wayOut: "Take the name that the message suggests.",
  },
  PLUGIN_FAILED: {
    cause: "A plugin threw, or gave something that can't be used. It was left out.",
    wayOut: "`cem plugins list` shows how each one stands.",
  },
  PLUGIN_INCOMPATIBLE: {
    cause: "The plugin is made for another version of the ports.",
    wayOut: "Update the plugin or cem.",
  },
  PLUGIN_INVALID: {
    cause: "The plugin's file or package is not there, is no plugin, or refuses its options.",
    wayOut: "Correct its entry under `plugins`.",
  },
  PLUGIN_TIMEOUT: {
    cause: "A part of a plugin took longer than it may.",
    wayOut: "Tell its author. After two in a row the part is used no more.",
  },
  RECORDING_INVALID: {
    cause: "The file is no recording.",
    wayOut: "Name a file that `--record` wrote.",
  },
  RECORDING_UNREADABLE: { cause: "The recording can't be read.", wayOut: "Check its name and its rights." },
  RECORDING_UNWRITABLE: {
    cause: "The recording can't be written.",
    wayOut: "Name a file in a folder that can be written.",
  },
} satisfies Troubles;
