import { CemError, type JsonObject, type JsonValue, type ToolCall } from "@cem/core";
import { placeArgument } from "../form/arguments.ts";
import type { FormTargetDefinition } from "../form/form-schema.ts";
import type { FormTarget } from "../targets/target.ts";
import type { BrowserSettings } from "../web/browser.ts";

type TargetType = FormTargetDefinition["type"];

/** Settings of the targets of forms. */
export interface TargetSettings {
  callTool?: CallTool | undefined;
  /**
   * Whether the call replaces tokens of the same redactor by values, as a guarded call does. Personal texts are then
   * passed as tokens, so that nothing on the way to the tool sees them.
   *
   * @defaultValue false
   */
  restoresTokens?: boolean | undefined;
  /** The folder that files are uploaded from, and that documents and screenshots are written to. */
  workspace?: string | undefined;
  /** The folder for screenshots, instead of `forms` in the workspace. */
  screenshotFolder?: string | undefined;
  /** The browser for web pages. */
  browser?: BrowserSettings | undefined;
  /** Custom targets in place of the built-in ones. */
  targets?: Partial<Record<TargetType, FormTarget>> | undefined;
}

/** Creates the target of a type. The code for pages and documents is loaded on first use. */
export async function targetOf(type: TargetType, settings: TargetSettings): Promise<FormTarget> {
  const given = settings.targets?.[type];
  if (given !== undefined) return given;
  const { callTool, restoresTokens, workspace, screenshotFolder, browser } = settings;
  if (type === "tool") {
    if (callTool !== undefined) return createToolTarget(callTool, restoresTokens);
    throw new CemError("FORM_TARGET_FAILED", "The form fills a tool, and no tool can be called here.");
  }
  if (type === "web") {
    const { createWebTarget } = await import("../web/index.ts");
    return createWebTarget({ ...browser, workspace, screenshotFolder });
  }
  if (workspace === undefined)
    throw new CemError(
      "FORM_TARGET_FAILED",
      "The form fills a PDF file, and there is no workspace folder to find it in.",
    );
  const { createPdfTarget } = await import("../pdf/index.ts");
  return createPdfTarget({ workspace });
}

/** Calls a tool, with all guards. Rejects when the call fails. */
export type CallTool = (call: ToolCall) => Promise<JsonValue>;

function createToolTarget(callTool: CallTool, restoresTokens = false): FormTarget {
  return {
    specificationVersion: "v1",
    async fill({ form, fields, isTrial }) {
      if (form.target?.type !== "tool")
        throw new CemError("OPTION_INVALID", "The form does not fill a tool.");
      const args: JsonObject = {};
      const problems = fields.flatMap(({ field, value, token }) => {
        if (placeArgument(args, field, restoresTokens ? (token ?? value) : value)) return [];
        return [{ field: field.name, message: "fills the same argument of the tool as another field" }];
      });
      const readings = fields.map(({ field }) => ({ name: field.name, matches: true }));
      const isSent = !isTrial && problems.length === 0;
      const outcome = { readings, problems, screenshots: [], submitted: isSent };
      if (!isSent) return outcome;
      return { ...outcome, result: await callTool({ ...splitTool(form.target.tool), args }) };
    },
  };
}

export function splitTool(name: string): { server: string; tool: string } {
  const dot = name.indexOf(".");
  return { server: name.slice(0, dot), tool: name.slice(dot + 1) };
}
