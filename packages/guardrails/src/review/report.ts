import type { Node } from "@babel/types";
import type { Finding } from "@cem/core";
import { locationOf } from "@cem/program";

/** Collects findings, each rule at most once on a line and for a message. */
export class Report {
  readonly findings: Finding[] = [];
  readonly #seen = new Set<string>();

  add(node: Node, finding: Omit<Finding, "line" | "column">): void {
    const place = locationOf(node);
    const key = `${place.line} ${finding.rule} ${finding.message}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.findings.push({ ...finding, ...place });
  }
}
