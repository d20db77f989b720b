import { Lazy, moduleBeside, offload, type Guard, type ReviewRequest, type ToolDefinition } from "@cem/core";
import type { ReviewSettings } from "./review-work.ts";

const reader = new Lazy(() => import("@cem/program"));

/** Reviews programs that are slow to parse in work threads. */
export function offloadReview(guard: Guard, settings: ReviewSettings): Guard {
  return {
    ...guard,
    async review(request) {
      const { isQuicklyRead } = await reader.get();
      const here = () => guard.review(request);
      if (isQuicklyRead(request.code)) return here();
      const { code, allowedTools, signal } = request;
      return offload(() => {
        const args = [settings, { code, tools: toolsInSight(request), allowedTools }];
        return { module: moduleBeside("review-work", import.meta.url), name: "review", args, signal };
      }, here);
    },
  };
}

/** The tools that code may name, reduced to what a review needs, since a catalog can be too large to clone. */
function toolsInSight({ code, tools }: ReviewRequest): Partial<ToolDefinition>[] {
  const words = new Set(code.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu));
  const servers = new Map<string, { isNamed: boolean }>();
  return tools
    .filter(({ server, name, kind }) => {
      const id = `${kind === "skill"} ${server}`;
      const known = servers.get(id);
      const seen = known ?? { isNamed: code.includes(server) };
      servers.set(id, seen);
      // One tool of each server is kept, so that the server is known.
      return known === undefined || seen.isNamed || words.has(name);
    })
    .map(({ server, name, originalServer, originalName, kind, module, annotations }) => ({
      server,
      name,
      originalServer,
      originalName,
      kind,
      module,
      annotations,
    }));
}
