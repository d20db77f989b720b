/** A file that a migration makes. */
export interface MigratedFile {
  /** Relative to the project, with `/`. */
  file: string;
  /** The file of the Python original that it comes from, relative to the project. */
  from: string;
  text: string;
  /** The text of `from`, where the new file is a changed copy of it. */
  before?: string | undefined;
  /** Whether there is such a file already, which stays as it is. */
  isThere: boolean;
}

/** What is left to a person. */
export interface LeftOver {
  /** Relative to the project, with `:` and a line where one is known. */
  place: string;
  reason: string;
}

/** Functions in Python that only call an MCP server. */
export interface CalledServer {
  name: string;
  tools: string[];
  /** Whether the configuration has it. */
  isConfigured: boolean;
}

/** What moving a project over comes to. */
export interface Migration {
  /** Absolute path of the project. */
  folder: string;
  /** Whether anything of the Python original was found. */
  isProject: boolean;
  files: MigratedFile[];
  /** What of the configuration was changed, in the new file. */
  changes: string[];
  /** What works as it is. */
  works: string[];
  left: LeftOver[];
  servers: CalledServer[];
}
