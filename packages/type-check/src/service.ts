import path from "node:path";
import ts from "typescript";
import { type GuestFiles, LIBRARY_FOLDER } from "./guest-files.ts";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  lib: ["lib.esnext.d.ts", "lib.webworker.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  strictPropertyInitialization: false,
  useUnknownInCatchVariables: false,
  allowUnreachableCode: true,
  allowUnusedLabels: true,
  noErrorTruncation: false,
  skipLibCheck: true,
  types: [],
};

/** Creates TypeScript's language service for the guest's files. */
export function createService(
  files: GuestFiles,
  registry: ts.DocumentRegistry,
  strictNullChecks: boolean,
): ts.LanguageService {
  const options = { ...OPTIONS, strictNullChecks };
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => options,
    getScriptFileNames: () => files.roots,
    getScriptVersion: (file) => files.version(file),
    getScriptSnapshot(file) {
      const text = files.read(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => "/workspace",
    getDefaultLibFileName: () => `${LIBRARY_FOLDER}lib.d.ts`,
    useCaseSensitiveFileNames: () => true,
    fileExists: (file) => files.exists(file),
    readFile: (file) => files.read(file),
    directoryExists: () => false,
    getDirectories: () => [],
    readDirectory: () => [],
    realpath: (file) => file,
    resolveModuleNameLiterals: (literals, containingFile) =>
      literals.map(({ text }) => {
        const resolved = resolveSpecifier(text, containingFile, files);
        if (resolved === undefined) return { resolvedModule: undefined };
        return { resolvedModule: { resolvedFileName: resolved, extension: extensionOf(resolved) } };
      }),
    resolveTypeReferenceDirectiveReferences: (references) =>
      references.map(() => ({ resolvedTypeReferenceDirective: undefined })),
  };
  return ts.createLanguageService(host, registry);
}

/** Resolves an import to one of the guest's files. Anything else stays unresolved, and is `any`. */
function resolveSpecifier(specifier: string, importer: string, files: GuestFiles): string | undefined {
  const location = specifier.startsWith("file:///") ? specifier.slice("file://".length) : specifier;
  if (!/^(?:\.{0,2}\/)/u.test(location)) return undefined;
  const file = path.posix.resolve(path.posix.dirname(importer), location);
  const candidates = [file, file.replace(/\.([cm]?)js$/u, ".d.$1ts"), `${file}.ts`, `${file}/index.ts`];
  return candidates.find((candidate) => files.exists(candidate));
}

function extensionOf(file: string): ts.Extension {
  const known = [ts.Extension.Dts, ts.Extension.Dmts, ts.Extension.Dcts, ts.Extension.Mts, ts.Extension.Cts];
  return known.find((extension) => file.endsWith(extension)) ?? ts.Extension.Ts;
}
