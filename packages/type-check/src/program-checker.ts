import type { Finding, ToolKind } from "@cem/core";
import ts from "typescript";
import { explain } from "./explain.ts";
import { GuestFiles, LIBRARY_FOLDER, PROGRAM_FILE } from "./guest-files.ts";
import { FILES_FOLDER, type ToolFolders } from "./host-files.ts";
import { createService } from "./service.ts";
import { unknownAsAny } from "./unknown-as-any.ts";
import { MISSING_FILE, type FileHashes } from "./check-cache.ts";

/** What the checker needs to know about a tool. */
export interface CheckedTool {
  /** The import specifier: `./servers/calculator/index.ts`. */
  module: string;
  kind: ToolKind;
  signature: string;
}

export interface CheckRequest {
  code: string;
  /** The tools whose modules the code may import. */
  tools: readonly CheckedTool[];
}

/** A generated file next to a module, with the signatures of its tools that run on the host. */
const HOST_TOOLS_FILE = "host-tools.cem.d.ts";
/** TypeScript's code for an import that can't be resolved. */
const UNRESOLVED_IMPORT = 2307;
/** The most findings of one check. */
const MAX_FINDINGS = 20;

/** Checks programs, one after another, and keeps the parsed tools and library between them. */
export class ProgramChecker {
  readonly #files: GuestFiles;
  readonly #registry = ts.createDocumentRegistry(true, "/workspace");
  readonly #strict: ts.LanguageService;
  #lenient: ts.LanguageService | undefined;
  #declared: string[] = [];
  /** The files of modules that do not exist on the host. */
  #absent: string[] = [];

  constructor(folders: ToolFolders) {
    this.#files = new GuestFiles(folders);
    this.#strict = createService(this.#files, this.#registry, true);
  }

  check({ code, tools }: CheckRequest): Finding[] {
    this.#declare(tools);
    this.#files.write(PROGRAM_FILE, unknownAsAny(code));
    // A syntax error is left to the run, which reports it with its line and runs nothing.
    if (this.#strict.getSyntacticDiagnostics(PROGRAM_FILE).length > 0) return [];
    const found = findingsOf(this.#strict);
    if (found.size === 0) return [];
    // What is wrong only with strict null checks does not stop the code.
    this.#lenient ??= createService(this.#files, this.#registry, false);
    const certain = findingsOf(this.#lenient);
    const kept = new Map<string, Finding>();
    for (const [key, finding] of found) {
      if (certain.has(key)) kept.set(`${finding.line} ${finding.message}`, finding);
    }
    return [...kept.values()].slice(0, MAX_FINDINGS);
  }

  /**
   * The hashes of the tools' files that the last check depends on. `undefined` when an import could not be resolved,
   * since its file may be created later.
   */
  filesOfLastCheck(): FileHashes | undefined {
    const files: FileHashes = {};
    const diagnostics = this.#strict.getSemanticDiagnostics(PROGRAM_FILE);
    if (diagnostics.some(({ code }) => code === UNRESOLVED_IMPORT)) return undefined;
    for (const { fileName } of this.#strict.getProgram()?.getSourceFiles() ?? []) {
      const hash = fileName.startsWith(LIBRARY_FOLDER) ? undefined : this.#files.hostHash(fileName);
      if (hash !== undefined) files[fileName] = hash;
    }
    for (const file of this.#absent) files[file] = MISSING_FILE;
    return files;
  }

  /**
   * Declares tools that have no file by their signatures. Where a module has tools in a file and tools on the host, both
   * are exported, and the file's declaration takes precedence.
   */
  #declare(tools: readonly CheckedTool[]): void {
    for (const file of this.#declared) this.#files.remove(file);
    this.#declared = [];
    this.#absent = [];
    for (const [module, group] of Map.groupBy(tools, (tool) => tool.module)) {
      const file = module.replace(/^\./u, "/workspace");
      const onDisk = this.#files.exists(file);
      const original = file.replace(/^\/workspace\//u, FILES_FOLDER);
      if (!onDisk) this.#absent.push(original);
      const declared = group.filter(({ kind }) => kind === "host" || !onDisk);
      if (declared.length === 0) continue;
      const signatures = declared.map(({ signature }) => signature.replaceAll(/[\r\n]+/gu, " "));
      const text = signatures.map((signature) => `export declare function ${signature};\n`).join("");
      if (onDisk) this.#write(file.replace(/[^/]+$/u, HOST_TOOLS_FILE), unknownAsAny(text));
      // Of two exports of one name TypeScript takes the first.
      const both = `export * from ${JSON.stringify(original)};\nexport * from "./${HOST_TOOLS_FILE}";\n`;
      this.#write(file, onDisk ? both : unknownAsAny(text));
    }
  }

  #write(file: string, text: string): void {
    this.#files.write(file, text);
    this.#declared.push(file);
  }
}

/** The findings by their position and rule. */
function findingsOf(service: ts.LanguageService): Map<string, Finding> {
  const program = service.getProgram();
  const source = program?.getSourceFile(PROGRAM_FILE);
  const found = new Map<string, Finding>();
  if (program === undefined || source === undefined) return found;
  const checker = program.getTypeChecker();
  for (const diagnostic of service.getSemanticDiagnostics(PROGRAM_FILE)) {
    if (diagnostic.start === undefined) continue;
    const explained = explain(diagnostic, source, checker);
    if (explained === undefined) continue;
    const { line, character } = source.getLineAndCharacterOfPosition(diagnostic.start);
    const rest = { severity: "error", line: line + 1, column: character + 1 } as const;
    found.set(`${diagnostic.start} ${explained.rule}`, { ...explained, ...rest });
  }
  return found;
}
