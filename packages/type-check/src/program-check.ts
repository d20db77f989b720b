import type { Finding, ToolKind } from "@cem/core";
import ts from "typescript";
import { explain } from "./explain.ts";
import { GuestFiles, LIBRARY_FOLDER, PROGRAM_FILE } from "./guest-files.ts";
import { FILES_FOLDER, type ToolFolders } from "./host-files.ts";
import { createService } from "./service.ts";
import { unknownAsAny } from "./unknown-as-any.ts";
import { MISSING_FILE, type FileHashes } from "./verdict-file.ts";

/** A tool as the checker needs it. */
export interface CheckedTool {
  /** `./servers/calculator/index.ts` */
  module: string;
  kind: ToolKind;
  signature: string;
}

export interface CheckRequest {
  code: string;
  /** Those whose modules the code may mean. */
  tools: readonly CheckedTool[];
}

/** Beside a module, the signatures of its tools on the host. */
const HOST_TOOLS_FILE = "host-tools.cem.d.ts";
/** TypeScript's word for an import that leads nowhere. */
const UNRESOLVED_IMPORT = 2307;
/** More findings than this help nobody. */
const MAX_FINDINGS = 20;

/** Checks programs one after another. What it knows of the tools and the library it keeps. */
export class ProgramCheck {
  readonly #files: GuestFiles;
  readonly #registry = ts.createDocumentRegistry(true, "/workspace");
  readonly #strict: ts.LanguageService;
  #lenient: ts.LanguageService | undefined;
  #declared: string[] = [];
  /** Modules that have no file, as files. */
  #absent: string[] = [];

  constructor(folders: ToolFolders) {
    this.#files = new GuestFiles(folders);
    this.#strict = createService(this.#files, this.#registry, true);
  }

  check({ code, tools }: CheckRequest): Finding[] {
    this.#declare(tools);
    this.#files.write(PROGRAM_FILE, unknownAsAny(code));
    // A program that can't be parsed is the run's to explain: it has the place and the reason, and runs nothing.
    if (this.#strict.getSyntacticDiagnostics(PROGRAM_FILE).length > 0) return [];
    const found = findingsOf(this.#strict);
    if (found.size === 0) return [];
    // What is wrong only for want of a check for null or undefined is no reason to stop.
    this.#lenient ??= createService(this.#files, this.#registry, false);
    const certain = findingsOf(this.#lenient);
    const kept = new Map<string, Finding>();
    for (const [place, finding] of found) {
      if (certain.has(place)) kept.set(`${finding.line} ${finding.message}`, finding);
    }
    return [...kept.values()].slice(0, MAX_FINDINGS);
  }

  /**
   * The tools' files that the last check went by. `undefined` where an import led nowhere: a file may come to stand
   * there.
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
   * Tools that have no module of their own are known by their signatures. Those on the host may stand beside tools in
   * files, in one module, where what the file says is the better source.
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
      // Of two exports of one name the first holds.
      const both = `export * from ${JSON.stringify(original)};\nexport * from "./${HOST_TOOLS_FILE}";\n`;
      this.#write(file, onDisk ? both : unknownAsAny(text));
    }
  }

  #write(file: string, text: string): void {
    this.#files.write(file, text);
    this.#declared.push(file);
  }
}

/** The findings by the place and kind of what they were found at. */
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
    const place = { severity: "error", line: line + 1, column: character + 1 } as const;
    found.set(`${diagnostic.start} ${explained.rule}`, { ...explained, ...place });
  }
  return found;
}
