import ts from "typescript";
import type { Module } from "./generation.ts";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  lib: ["lib.esnext.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
  types: [],
};

const CLIENT = `export declare function callTool<T>(server: string, tool: string, args: unknown): Promise<T>;\n`;

/** Type-checks all modules in one strict program; each problem names its file. */
export function typeCheck(modules: readonly Module[]): string[] {
  const files = new Map(modules.map(({ file, code }) => [`/w/servers/${file}`, code]));
  files.set("/w/client/index.ts", CLIENT);
  files.set("/w/package.json", '{ "type": "module" }');
  const host = ts.createCompilerHost(OPTIONS);
  const disk = { ...host };
  host.getSourceFile = (file, language, ...rest) => {
    const code = files.get(file);
    return code === undefined
      ? disk.getSourceFile(file, language, ...rest)
      : ts.createSourceFile(file, code, language);
  };
  host.fileExists = (file) => files.has(file) || disk.fileExists(file);
  host.readFile = (file) => files.get(file) ?? disk.readFile(file);
  host.directoryExists = () => true;
  host.realpath = (file) => file;
  host.getCurrentDirectory = () => "/w";
  const program = ts.createProgram(
    [...files.keys()].filter((file) => file.endsWith(".ts")),
    OPTIONS,
    host,
  );
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, " ");
    return `${diagnostic.file?.fileName ?? "program"}: TS${diagnostic.code} ${message}`;
  });
}
