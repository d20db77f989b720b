import type { Finding } from "@cem/core";
import ts from "typescript";
import { explain } from "./explain.ts";
import { GuestFiles, PROGRAM_FILE, type ToolFolders } from "./guest-files.ts";
import { createService } from "./service.ts";
import { unknownAsAny } from "./unknown-as-any.ts";

/** A tool as the checker needs it. */
export interface CheckedTool {
  /** `./servers/calculator/index.ts` */
  module: string;
  name: string;
  signature: string;
}

export interface CheckRequest {
  code: string;
  /** Those whose modules the code may mean. */
  tools: readonly CheckedTool[];
}

/** More findings than this help nobody. */
const MAX_FINDINGS = 20;

/** Checks programs one after another. What it knows of the tools and the library it keeps. */
export class ProgramCheck {
  readonly #files: GuestFiles;
  readonly #registry = ts.createDocumentRegistry(true, "/workspace");
  readonly #strict: ts.LanguageService;
  #lenient: ts.LanguageService | undefined;
  #declared: string[] = [];

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

  /** Tools that have no file are known by their signatures. */
  #declare(tools: readonly CheckedTool[]): void {
    for (const file of this.#declared) this.#files.remove(file);
    const texts = new Map<string, string[]>();
    for (const { module, signature } of tools) {
      const file = module.replace(/^\./u, "/workspace");
      if (this.#files.exists(file)) continue;
      const lines = texts.get(file) ?? [];
      lines.push(`export declare function ${signature.replaceAll(/[\r\n]+/gu, " ")};\n`);
      texts.set(file, lines);
    }
    for (const [file, lines] of texts) this.#files.write(file, unknownAsAny(lines.join("")));
    this.#declared = [...texts.keys()];
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
