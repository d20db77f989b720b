import type { SourceFile } from "typescript/unstable/ast";
import type { Checker } from "typescript/unstable/async";
import { startCompilerProcess, type CompilerPackage } from "./compiler-process.ts";
import type { Diagnostic } from "./diagnostics.ts";
import { GLOBALS_FILE, PROGRAM_FILE, type GuestFiles } from "./guest-files.ts";
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
  // Errors reported only with strict null checks don't stop the code.
  [LENIENT, configOf({ ...OPTIONS, strictNullChecks: false })],
]);

export interface ProgramView {
  source: SourceFile;
  checker: Checker;
  diagnostics: readonly Diagnostic[];
}

/** The program with strict null checks and, if requested, without. */
export interface ProgramViews {
  strict: ProgramView;
  lenient?: ProgramView | undefined;
}

/** TypeScript's native compiler, which keeps the program, the tools and its library between checks. */
export type NativeCompiler = ReturnType<typeof startNativeCompiler>;

/**
 * Starts the compiler. This module speaks its protocol; the JavaScript API, which uses the same protocol, is loaded
 * when types have to be inspected.
 */
export function startNativeCompiler(
  { executable, libraryFolder }: CompilerPackage,
  files: GuestFiles,
  memoryMb: number,
) {
  /** Answers the compiler's requests for files, so that it reads nothing from the host itself. */
  const answer = (method: string, file: string): unknown => {
    switch (method) {
      case "readFile":
        return { content: CONFIGS.get(file) ?? readLibrary(libraryFolder, file) ?? files.read(file) ?? null };
      case "fileExists":
        return LIBRARY_FILES.includes(file) || files.exists(file);
      case "directoryExists":
        return files.isFolder(file);
      case "getAccessibleEntries":
        return { files: [], directories: [] };
      default:
        return file;
    }
  };
  const compiler = startCompilerProcess({
    compiler: { executable, libraryFolder },
    workingFolder: FOLDER,
    callbacks: ["readFile", "fileExists", "directoryExists", "getAccessibleEntries", "realpath"],
    handle: (method, file) => answer(method, String(file)),
    memoryMb,
  });
  const initialized = compiler.request("initialize", null);
  initialized.catch(() => {});
  let current: number | undefined;
  let isLenientOpen = false;

  const apiRequest = (method: string, params: unknown): Promise<unknown> =>
    method === "initialize" ? initialized : compiler.request(method, params);
  const client = {
    apiRequest,
    async apiRequestBinary(method: string, params: unknown): Promise<Uint8Array | undefined> {
      const data = (await apiRequest(method, params)) as { data: string } | null;
      return data === null ? undefined : new Uint8Array(Buffer.from(data.data, "base64"));
    },
    getTimingCollector: () => undefined,
  };

  return {
    process: compiler,
    /** Updates the compiler's view of the files. It receives the changes and requests the files it needs. */
    async update(): Promise<void> {
      await initialized;
      const last = current;
      const changes = files.takeChanges();
      const isChanged = Object.values(changes).some(({ length }) => length > 0);
      const next =
        last === undefined ? { openProjects: [STRICT] } : { fileChanges: isChanged ? changes : undefined };
      const { snapshot } = (await compiler.request("updateSnapshot", next)) as { snapshot: number };
      current = snapshot;
      // Sent after the next request, in the same write.
      if (last !== undefined)
        process.nextTick(() => {
          compiler.request("release", { snapshot: last }).catch(() => {});
        });
    },
    /** TypeScript's diagnostics of the program, with strict null checks. */
    async diagnostics(kind: "Syntactic" | "Semantic"): Promise<readonly Diagnostic[]> {
      const asked = { snapshot: current, project: STRICT, file: PROGRAM_FILE };
      const found = await compiler.request(`get${kind}Diagnostics`, asked);
      return (found as readonly Diagnostic[] | null) ?? [];
    },
    /** @param isLenient - Whether to inspect them without strict null checks, too. This takes as long as another check. */
    async inspect<T>(look: (views: ProgramViews) => Promise<T>, isLenient: boolean): Promise<T> {
      // This API is unstable, so the version of the package is pinned. Loading it takes as long as a check.
      const { API } = await import("typescript/unstable/async");
      const api = new API();
      // Otherwise the API would start a process of its own, without limits.
      Reflect.set(api, "client", client);
      const openProjects = isLenient && !isLenientOpen ? [LENIENT] : [];
      const snapshot = await api.updateSnapshot({ openProjects });
      isLenientOpen ||= isLenient;
      const view = async (config: string): Promise<ProgramView> => {
        const project = snapshot.getProject(config);
        const source = await project?.program.getSourceFile(PROGRAM_FILE);
        if (project === undefined || source === undefined) throw new Error("TypeScript lost the program");
        const diagnostics = await project.program.getSemanticDiagnostics(PROGRAM_FILE);
        return { source, checker: project.checker, diagnostics };
      };
      try {
        const [strict, lenient] = await Promise.all([view(STRICT), ...(isLenient ? [view(LENIENT)] : [])]);
        return await look({ strict, lenient });
      } finally {
        await snapshot.dispose();
      }
    },
  };
}

function configOf(compilerOptions: object): string {
  return JSON.stringify({ compilerOptions, files: [PROGRAM_FILE, GLOBALS_FILE, ...LIBRARY_FILES] });
}
