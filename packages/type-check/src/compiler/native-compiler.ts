import type { SourceFile } from "typescript/unstable/ast";
import type { Checker } from "typescript/unstable/async";
import { CompilerProcess } from "./compiler-process.ts";
import type { CompilerPackage } from "./compiler-process.ts";
import type { Diagnostic } from "./diagnostics.ts";
import { GLOBALS_FILE, PROGRAM_FILE, type FileChanges, type GuestFiles } from "./guest-files.ts";
import { LIBRARY_FILES, readLibrary } from "./library.ts";

const FOLDER = "/workspace";
const STRICT = `${FOLDER}/strict.tsconfig.json`;
const LENIENT = `${FOLDER}/lenient.tsconfig.json`;

const OPTIONS = {
  target: "esnext",
  noLib: true,
  module: "esnext",
  moduleResolution: "bundler",
  moduleDetection: "force",
  allowImportingTsExtensions: true,
  paths: {
    "file:///*": ["/*"],
    "servers/*": ["/workspace/servers/*"],
    "skills/*": ["/workspace/skills/*"],
  },
  noEmit: true,
  strict: true,
  useUnknownInCatchVariables: false,
  types: [],
};

const CONFIGS = new Map<string, string>([
  [STRICT, configOf(OPTIONS)],
  // Errors that only strict null checks report do not stop the code.
  [LENIENT, configOf({ ...OPTIONS, strictNullChecks: false })],
]);

/** The program as TypeScript understands it. */
export interface ProgramView {
  source: SourceFile;
  checker: Checker;
  diagnostics: readonly Diagnostic[];
}

/** The program with strict null checks and, where it was asked for, without. */
export interface ProgramViews {
  strict: ProgramView;
  lenient?: ProgramView | undefined;
}

/**
 * TypeScript's native compiler, which keeps the program, the tools and its library between checks. Its protocol is spoken
 * here; the API in JavaScript, which is the same protocol, is loaded when types have to be looked at.
 */
export class NativeCompiler {
  readonly #process: CompilerProcess;
  readonly #files: GuestFiles;
  readonly #libraryFolder: string;
  readonly #initialized: Promise<unknown>;
  #snapshot: number | undefined;
  #isLenientOpen = false;

  constructor(compiler: CompilerPackage, files: GuestFiles, memoryMb: number) {
    this.#files = files;
    this.#libraryFolder = compiler.libraryFolder;
    this.#process = new CompilerProcess({
      compiler,
      workingFolder: FOLDER,
      callbacks: ["readFile", "fileExists", "directoryExists", "getAccessibleEntries", "realpath"],
      handle: (method, file) => this.#answer(method, String(file)),
      memoryMb,
    });
    this.#initialized = this.#process.request("initialize", null);
    this.#initialized.catch(() => {});
  }

  /** Why nothing more can be checked, in words that continue a sentence. `undefined` while it can. */
  get ended(): string | undefined {
    return this.#process.ended;
  }

  /** Ends the compiler's process at once. What is asked is rejected with the reason. */
  end(reason: string): void {
    this.#process.end(reason);
  }

  /** Whether the host waits for the compiler, or may end although it runs. */
  keepHostAlive(alive: boolean): void {
    this.#process.keepHostAlive(alive);
  }

  /** Ends the compiler's process and waits until it is gone. */
  dispose(): Promise<void> {
    return this.#process.dispose();
  }

  /** Has the compiler see the files as they are now. It is told what has changed and asks for what it needs. */
  async update(): Promise<void> {
    await this.#initialized;
    const last = this.#snapshot;
    const next =
      last === undefined ? { openProjects: [STRICT] } : { fileChanges: notEmpty(this.#files.takeChanges()) };
    const { snapshot } = (await this.#process.request("updateSnapshot", next)) as { snapshot: number };
    this.#snapshot = snapshot;
    // After what is asked next, in the same write.
    if (last !== undefined)
      process.nextTick(() => {
        this.#process.request("release", { snapshot: last }).catch(() => {});
      });
  }

  /** TypeScript's diagnostics of the program, with strict null checks. */
  async diagnostics(kind: "Syntactic" | "Semantic"): Promise<readonly Diagnostic[]> {
    const asked = { snapshot: this.#snapshot, project: STRICT, file: PROGRAM_FILE };
    const answer = await this.#process.request(`get${kind}Diagnostics`, asked);
    return (answer as readonly Diagnostic[] | null) ?? [];
  }

  /**
   * Looks at the types of the program.
   *
   * @param options - `lenient`: whether without strict null checks, too. This takes as long as another check.
   */
  async inspect<T>(look: (views: ProgramViews) => Promise<T>, { lenient = false } = {}): Promise<T> {
    // This API is unstable, so the version of the package is pinned. It takes as long to load as a check takes.
    const { API } = await import("typescript/unstable/async");
    const api = new API();
    // The API would start a process of its own, without limits.
    Reflect.set(api, "client", this.#client());
    const snapshot = await api.updateSnapshot({
      openProjects: lenient && !this.#isLenientOpen ? [LENIENT] : [],
    });
    this.#isLenientOpen ||= lenient;
    const view = async (config: string): Promise<ProgramView> => {
      const project = snapshot.getProject(config);
      const source = await project?.program.getSourceFile(PROGRAM_FILE);
      if (project === undefined || source === undefined) throw new Error("TypeScript lost the program");
      const diagnostics = await project.program.getSemanticDiagnostics(PROGRAM_FILE);
      return { source, checker: project.checker, diagnostics };
    };
    try {
      const [strict, other] = await Promise.all([view(STRICT), ...(lenient ? [view(LENIENT)] : [])]);
      return await look({ strict, lenient: other });
    } finally {
      await snapshot.dispose();
    }
  }

  /** The client that the API sends its requests through. */
  #client(): object {
    const apiRequest = (method: string, params: unknown): Promise<unknown> =>
      method === "initialize" ? this.#initialized : this.#process.request(method, params);
    return {
      apiRequest,
      async apiRequestBinary(method: string, params: unknown): Promise<Uint8Array | undefined> {
        const answer = (await apiRequest(method, params)) as { data: string } | null;
        return answer === null ? undefined : new Uint8Array(Buffer.from(answer.data, "base64"));
      },
      getTimingCollector: () => undefined,
    };
  }

  /** Answers the compiler's questions about files, so that it reads nothing of the host itself. */
  #answer(method: string, file: string): unknown {
    switch (method) {
      case "readFile":
        return { content: this.#read(file) ?? null };
      case "fileExists":
        return LIBRARY_FILES.includes(file) || this.#files.exists(file);
      case "directoryExists":
        return this.#files.isFolder(file);
      case "getAccessibleEntries":
        return { files: [], directories: [] };
      default:
        return file;
    }
  }

  #read(file: string): string | undefined {
    return CONFIGS.get(file) ?? readLibrary(this.#libraryFolder, file) ?? this.#files.read(file);
  }
}

function configOf(compilerOptions: object): string {
  return JSON.stringify({ compilerOptions, files: [PROGRAM_FILE, GLOBALS_FILE, ...LIBRARY_FILES] });
}

function notEmpty(changes: FileChanges): FileChanges | undefined {
  return Object.values(changes).some((files: string[]) => files.length > 0) ? changes : undefined;
}
