import { basename } from "node:path";
import type { LoadedConfig } from "@cem/config";
import { CemError, toErrorInfo } from "@cem/core";
import type { ErrorInfo } from "@cem/core";
import { addPackageFinder, findBeside, findInProjects, isWithin } from "@cem/core/files";

/** The optional packages, with the entry that loads each. */
const LOADERS = {
  "playwright-core": "@cem/forms",
  "@cantoo/pdf-lib": "@cem/forms",
  "@pdf-lib/fontkit": "@cem/forms",
  openai: "@cem/codegen/llm",
  "@huggingface/transformers": "@cem/selector",
  microsandbox: "@cem/sandbox-msb",
} as const;

export type OptionalPackage = keyof typeof LOADERS;

/**
 * Lets the optional packages that are installed where the project is be loaded, if the user trusts them.
 *
 * @returns the function that ends it.
 */
export function offerPackages({ config, trust }: Pick<LoadedConfig, "config" | "trust">): () => void {
  return addPackageFinder(async (name) => {
    const found = await trust.package(name);
    if (found === undefined) return undefined;
    const { folder } = trust;
    if (found.held !== undefined) {
      const message = `The package ${name} in the folder ${basename(folder)} is held back until that folder is trusted (cem trust).`;
      throw new CemError("FOLDER_UNTRUSTED", message, { details: { folder, package: name } });
    }
    const { realPath } = await import("@cem/config");
    const writable = writableFolders(config).find((one) => isWithin(realPath(one), found.file));
    if (writable === undefined) return found.file;
    const message = `The package ${name} is not loaded from the folder ${basename(writable)}, which code in the sandbox can write. Install it outside of it.`;
    throw new CemError("PACKAGE_MISSING", message, { details: { folder: writable, package: name } });
  });
}

/** The folders that code in the sandbox can write to. */
export function writableFolders({ execution }: LoadedConfig["config"]): string[] {
  const { workspaceDir, state, mountDirectories } = execution;
  const mounted = mountDirectories.filter(({ mode }) => mode === "rw").map(({ host }) => host);
  return [workspaceDir, state.workspaceDir, ...mounted];
}

/** Returns the error of an optional package that can't be loaded in an open project. */
export async function problemOfPackage(name: OptionalPackage): Promise<ErrorInfo | undefined> {
  if (isBeside(name)) return undefined;
  try {
    if ((await findInProjects(name)) !== undefined) return undefined;
  } catch (error) {
    return toErrorInfo(error);
  }
  const message = `The optional package ${name} is not installed. Install it: npm install ${INSTALLED_AS[name] ?? name}`;
  return toErrorInfo(new CemError("PACKAGE_MISSING", message, { details: { package: name } }));
}

/** The errors of the optional packages that a doctor names, each `undefined` where it can be loaded. */
export async function inspectPackages() {
  const [openai, web, pdf] = await Promise.all([
    problemOfPackage("openai"),
    problemOfPackage("playwright-core"),
    problemOfPackage("@cantoo/pdf-lib"),
  ]);
  return { openai, web, pdf };
}

/** Names with the version, where another does not fit. */
const INSTALLED_AS: Partial<Record<OptionalPackage, string>> = {
  openai: "openai@7",
  microsandbox: "microsandbox@0.6",
};

/**
 * The optional packages that are loaded from the project.
 *
 * @param all - Whether to name those too that are needed only for some runs, as for forms.
 */
export async function packagesOfProject({ config, trust }: LoadedConfig, all: boolean) {
  const { llm, optimizations, execution, privacy } = config;
  const isAskedFor = (start: string): boolean => trust.requested.some(({ name }) => name.startsWith(start));
  const asksModel = llm.enabled || (llm.embeddingModel ?? llm.azureEmbedderName) !== undefined;
  const hasModels = optimizations.embeddingModelDir !== undefined || privacy.namesModel !== undefined;
  const used: Record<OptionalPackage, boolean> = {
    "playwright-core": all,
    "@cantoo/pdf-lib": all,
    "@pdf-lib/fontkit": all,
    openai: asksModel || isAskedFor("llm."),
    "@huggingface/transformers":
      hasModels || isAskedFor("optimizations.embedding_model_dir") || isAskedFor("privacy.names_model"),
    microsandbox: execution.sandboxType === "microsandbox" || (all && execution.sandboxType === "auto"),
  };
  const names = (Object.keys(used) as OptionalPackage[]).filter((name) => used[name] && !isBeside(name));
  const found = await Promise.all(names.map((name) => trust.package(name)));
  return found.filter((one) => one !== undefined);
}

function isBeside(name: OptionalPackage): boolean {
  const loader = findBeside(LOADERS[name], import.meta.url);
  return loader !== undefined && findBeside(name, loader) !== undefined;
}
