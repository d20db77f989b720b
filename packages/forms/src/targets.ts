import { CemError } from "@cem/core";
import type { FormTargetDefinition } from "./form-schema.ts";
import type { FormTarget } from "./target.ts";
import { createToolTarget } from "./tool-target.ts";
import type { ToolTargetSettings } from "./tool-target.ts";
import type { BrowserSettings } from "./web/browser-settings.ts";

type TargetType = FormTargetDefinition["type"];

/** Where forms are filled, and with what. */
export interface TargetSettings extends Partial<ToolTargetSettings> {
  /** The folder that files are uploaded from, and that documents and screenshots are written to. */
  workspace?: string | undefined;
  /** The folder for screenshots, instead of `forms` in the workspace. */
  screenshotFolder?: string | undefined;
  /** The browser for web pages. */
  browser?: BrowserSettings | undefined;
  /** Targets of your own in place of the built-in ones. */
  targets?: Partial<Record<TargetType, FormTarget>> | undefined;
}

/** The target of a type. What fills pages and documents is loaded at its first use. */
export async function targetOf(type: TargetType, settings: TargetSettings): Promise<FormTarget> {
  const given = settings.targets?.[type];
  if (given !== undefined) return given;
  const { callTool, restoresTokens, workspace, screenshotFolder, browser } = settings;
  if (type === "tool") {
    if (callTool !== undefined) return createToolTarget({ callTool, restoresTokens });
    throw new CemError("FORM_TARGET_FAILED", "The form fills a tool, and no tool can be called here.");
  }
  if (type === "web") {
    const { createWebTarget } = await import("./web/index.ts");
    return createWebTarget({ ...browser, workspace, screenshotFolder });
  }
  if (workspace === undefined) {
    throw new CemError(
      "FORM_TARGET_FAILED",
      "The form fills a PDF file, and there is no workspace folder to find it in.",
    );
  }
  const { createPdfTarget } = await import("./pdf/index.ts");
  return createPdfTarget({ workspace });
}
