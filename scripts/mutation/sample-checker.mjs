// A StrykerJS checker that lets a random sample of the mutants through: those with the smallest hash of seed and mutant.
// The same seed and sources give the same sample. What it holds back counts as not compilable, so Stryker does not run it.
import { createHash } from "node:crypto";
import { CheckStatus } from "@stryker-mutator/api/check";
import { commonTokens, declareClassPlugin, PluginKind, tokens } from "@stryker-mutator/api/plugin";

/** Orders mutants at random, by seed. */
function rankOf(seed, { fileName, mutatorName, location, replacement }) {
  const { start, end } = location;
  const place = [start.line, start.column, end.line, end.column];
  const key = JSON.stringify([seed, fileName, mutatorName, place, replacement]);
  return createHash("sha256").update(key).digest("hex");
}

class SampleChecker {
  static inject = tokens(commonTokens.options);

  constructor({ cemSample }) {
    this.sample = cemSample;
  }

  async init() {}

  /** All mutants in one group, so that one call of `check` sees them all. */
  async group(mutants) {
    return mutants.length === 0 ? [] : [mutants.map(({ id }) => id)];
  }

  async check(mutants) {
    const { size, seed, folder } = this.sample;
    const ranked = mutants
      .map((mutant) => ({
        id: mutant.id,
        rank: rankOf(seed, { ...mutant, fileName: mutant.fileName.replace(`${folder}/`, "") }),
      }))
      .toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
    const heldBack = { status: CheckStatus.CompileError, reason: "not in the sample" };
    return Object.fromEntries(
      ranked.map(({ id }, index) => [id, index < size ? { status: CheckStatus.Passed } : heldBack]),
    );
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, "cem-sample", SampleChecker)];
