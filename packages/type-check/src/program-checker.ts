import { Lazy, type Finding } from "@cem/core";
import { isError, mayStop, textOf, type Diagnostic } from "./compiler/diagnostics.ts";
import { FILES_FOLDER, PROGRAM_FILE, type GuestFiles } from "./compiler/guest-files.ts";
import type { NativeCompiler, ProgramView, ProgramViews } from "./compiler/native-compiler.ts";
import type { Explanation } from "./findings/type-facts.ts";

export interface CheckedTool {
  /** The import specifier: `./servers/calculator/index.ts`. */
  module: string;
  signature: string;
  /** Whether the module's own file declares it. */
  isInFile: boolean;
}

export interface CheckRequest {
  code: string;
  /** The tools whose modules the code may import. */
  tools: readonly CheckedTool[];
  /** Whether to report every error, rather than only those on which a run would fail. */
  strict?: boolean | undefined;
}

const programText = new Lazy(() => import("./program-text.ts"));
/** A generated file next to a module, with the signatures of its tools that run on the host. */
const HOST_TOOLS_FILE = "host-tools.cem.d.ts";
const MAX_FINDINGS = 20;
/** Codes of assignments to variables of other types. */
const MISMATCHES = new Set([2322, 2739, 2740, 2741]);
const MAX_DIAGNOSTICS = 200;

/** Creates a checker that checks one program at a time, with a compiler that keeps the tools and the library between checks. */
export function createProgramChecker(compiler: NativeCompiler, files: GuestFiles) {
  /**
   * The declarations written for tools without files, by module and file. Kept for programs that import the module
   * again: a changed file makes TypeScript set up the whole program again.
   */
  const declared = new Map<string, ReadonlyMap<string, string>>();

  const overlay = (module: string, written: ReadonlyMap<string, string>): void => {
    for (const file of declared.get(module)?.keys() ?? []) if (!written.has(file)) files.remove(file);
    for (const [file, text] of written) files.write(file, text);
    if (written.size === 0) declared.delete(module);
    else declared.set(module, written);
  };

  /**
   * Declares tools that have no file by their signatures. When a module has tools in a file and tools on the host, both
   * are exported, and the file's declarations take precedence.
   */
  const declare = (code: string, tools: readonly CheckedTool[]): void => {
    const modules = Map.groupBy(tools, (tool) => tool.module);
    for (const module of declared.keys()) {
      if (!modules.has(module) && code.includes(modulePath(module))) overlay(module, new Map());
    }
    for (const [module, group] of modules) overlay(module, declarationsOf(module, group, files));
  };

  return {
    /**
     * @returns the findings on which a run of the program would fail. None for a syntax error, which is left to the
     *   review.
     * @throws UnreadableProgram; any other error means that the compiler is no longer usable.
     */
    async check({ code, tools, strict = false }: CheckRequest): Promise<Finding[]> {
      // The parser loads while the compiler starts.
      const { checkedText, mayLackAwait } = await programText.get();
      const text = checkedText(code);
      if (text === undefined) return [];
      declare(code, tools);
      files.write(PROGRAM_FILE, text);
      await compiler.update();
      const diagnostics = await compiler.diagnostics("Semantic");
      const isWrong = diagnostics.some(strict ? isError : mayStop);
      if (!isWrong && !mayLackAwait(code)) return [];
      if ((await compiler.diagnostics("Syntactic")).length > 0) return [];
      return compiler.inspect(async (views) => {
        const certain = await certainFindings(views);
        return strict ? withErrors(certain, views.strict) : certain;
      }, isWrong);
    },
  };
}

/** The declarations of a module's tools that no file declares, by the path of the file they are written as. */
function declarationsOf(
  module: string,
  tools: readonly CheckedTool[],
  files: GuestFiles,
): ReadonlyMap<string, string> {
  const file = module.replace(/^\./u, "/workspace");
  const original = file.replace(/^\/workspace\//u, FILES_FOLDER);
  const onDisk = files.isOnHost(file);
  const undeclared = tools.filter(({ isInFile }) => !isInFile || !onDisk);
  if (undeclared.length === 0) return new Map();
  const signatures = undeclared.map(({ signature }) => signature.replaceAll(/[\r\n]+/gu, " "));
  const text = signatures.map((signature) => `export declare function ${signature};\n`).join("");
  if (!onDisk) return new Map([[file, text]]);
  // Of two exports with the same name, TypeScript takes the first.
  const both = `export * from ${JSON.stringify(original)};\nexport * from "./${HOST_TOOLS_FILE}";\n`;
  return new Map([
    [file.replace(/(?<![^/])[^/]+$/u, HOST_TOOLS_FILE), text],
    [file, both],
  ]);
}

/** The part of a module's path that every form of its import contains: `servers/weather`. */
export function modulePath(module: string): string {
  return module.replace(/^\.\//u, "").replace(/\/[^/]+$/u, "");
}

/** The findings that apply with and without strict null checks, and warnings, in program order. */
async function certainFindings({ strict, lenient }: ProgramViews): Promise<Finding[]> {
  const [{ explain }, { misusedPromises }, { isOfAssigned, nodeAt }] = await Promise.all([
    import("./findings/explain.ts"),
    import("./findings/missing-await.ts"),
    import("./findings/program-facts.ts"),
  ]);
  // A variable that is later assigned a value of another type, `rows = rows.length`, keeps its initial type.
  const isRetyped = (lenient?.diagnostics ?? []).some(
    ({ code, pos }) => MISMATCHES.has(code) && isOfAssigned(nodeAt(strict.source, pos)),
  );
  const lenientAt = Map.groupBy(lenient?.diagnostics ?? [], ({ pos }) => pos);
  const rulesAt = async (pos: number): Promise<(string | undefined)[]> => {
    if (lenient === undefined) return [];
    const same = lenientAt.get(pos) ?? [];
    const explanations = await Promise.all(same.map((diagnostic) => explain(diagnostic, lenient)));
    return explanations.map((explanation) => explanation?.rule);
  };
  const findings = new Map<string, Finding>();
  const add = (finding: Finding): void => void findings.set(`${finding.line} ${finding.message}`, finding);
  for (const promise of await misusedPromises(strict.source, strict.checker)) {
    if (findings.size < MAX_FINDINGS) add(findingAt(promise, promise, strict));
  }
  // Other diagnostics on the same line may result from the missing `await`.
  const explained = new Set([...findings.values()].map(({ line }) => line));
  for (const diagnostic of strict.diagnostics.slice(0, MAX_DIAGNOSTICS)) {
    if (findings.size === MAX_FINDINGS) break;
    const [explanation, rules] = await Promise.all([explain(diagnostic, strict), rulesAt(diagnostic.pos)]);
    if (explanation === undefined) continue;
    const isOfType = explanation.rule !== "unknown-name" && explanation.rule !== "unknown-export";
    const severity = isRetyped && isOfType ? "warning" : explanation.severity;
    const finding = findingAt(diagnostic, { ...explanation, severity }, strict);
    const isCertain = rules.includes(explanation.rule) && !explained.has(finding.line);
    if (isCertain || finding.severity === "warning") add(finding);
  }
  return [...findings.values()].toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

/** Adds what TypeScript reports on lines without a finding. */
function withErrors(findings: readonly Finding[], view: ProgramView): Finding[] {
  const lines = new Set(findings.map(({ line }) => line));
  const others = view.diagnostics
    .filter(isError)
    .map((diagnostic) => findingAt(diagnostic, { rule: "type-error", message: textOf(diagnostic) }, view))
    .filter(({ line }) => !lines.has(line));
  return [...findings, ...others].slice(0, MAX_FINDINGS);
}

function findingAt(
  { pos }: Pick<Diagnostic, "pos">,
  { rule, message, severity = "error" }: Explanation,
  { source }: ProgramView,
): Finding {
  const { line, character } = source.getLineAndCharacterOfPosition(pos);
  return { rule, message, severity, line: line + 1, column: character + 1 };
}
