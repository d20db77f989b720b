import { moduleBeside, offload } from "@cem/core";
import type { CodeGenerator, Guard, ReviewRequest, ToolDefinition } from "@cem/core";
import type { ReviewSettings } from "./review-work.ts";
import type { Planned } from "./rules-work.ts";

/** A longer task is planned where nobody waits for the thread. */
const MAX_QUICK_CHARACTERS = 200;

/** Has programs that are not read quickly reviewed by the process's threads. */
export function offloadReview(guard: Guard, settings: ReviewSettings): Guard {
  return {
    ...guard,
    async review(request) {
      const { isQuicklyRead } = await import("@cem/program");
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

/** The tools that code may name, with what a review looks at: a catalog can be too large to be cloned. */
function toolsInSight({ code, tools }: ReviewRequest): Partial<ToolDefinition>[] {
  const words = new Set(code.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu));
  const servers = new Map<string, { isNamed: boolean }>();
  return tools
    .filter(({ server, name, kind }) => {
      const id = `${kind === "skill"} ${server}`;
      const known = servers.get(id);
      const seen = known ?? { isNamed: code.includes(server) };
      servers.set(id, seen);
      // Of each server one stands for the fact that there is one.
      return known === undefined || seen.isNamed || words.has(name);
    })
    .map(({ server, name, kind, module, annotations }) => ({ server, name, kind, module, annotations }));
}

/** Has tasks that are not read quickly planned by the process's threads. */
export function offloadRules(rules: CodeGenerator): CodeGenerator {
  return {
    ...rules,
    async generate(request) {
      const { task, tools, signal } = request;
      if (task.length <= MAX_QUICK_CHARACTERS) return rules.generate(request);
      const planned = await offload<Planned | undefined>(
        () => ({
          module: moduleBeside("rules-work", import.meta.url),
          name: "plan",
          args: [task, tools],
          signal,
        }),
        () => undefined,
      );
      if (planned === undefined) return rules.generate(request);
      if (planned.status === "refused") return planned;
      return { ...planned, uses: planned.uses.map((at) => tools[at]).filter((tool) => tool !== undefined) };
    },
  };
}
