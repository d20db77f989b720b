import type { RunCommand } from "../command-context.ts";
import type { Invocation } from "../invocation.ts";

/** Loads only what the command needs: help and version need nothing. */
export async function loadCommand(invocation: Invocation): Promise<RunCommand> {
  switch (invocation.command) {
    case "run": {
      const { runTask } = await import("./run.ts");
      return (context) => runTask(invocation, context);
    }
    case "exec": {
      const { runFile } = await import("./exec.ts");
      return (context) => runFile(invocation, context);
    }
    case "call": {
      const { callTool } = await import("./call.ts");
      return (context) => callTool(invocation, context);
    }
    case "keep-warm": {
      const { keepWarm } = await import("./keep-warm.ts");
      return (context) => keepWarm(invocation, context);
    }
    case "emit": {
      const { emit } = await import("./emit.ts");
      return (context) => emit(invocation, context);
    }
    case "completion": {
      const { printCompletion } = await import("./completion.ts");
      return () => printCompletion(invocation);
    }
    case "complete": {
      const { complete } = await import("./complete.ts");
      return () => complete(invocation);
    }
    case "tools": {
      const { listTools } = await import("./tools.ts");
      return (context) => listTools(invocation, context);
    }
    case "search": {
      const { searchTools } = await import("./search.ts");
      return (context) => searchTools(invocation, context);
    }
    case "serve": {
      const { serve } = await import("./serve.ts");
      return (context) => serve(invocation, context);
    }
    case "verify": {
      const { verify } = await import("./verify.ts");
      return (context) => verify(invocation, context);
    }
    case "worker": {
      const { work } = await import("./worker.ts");
      return (context) => work(invocation, context);
    }
    case "queue": {
      const { lookAtQueue } = await import("./queue.ts");
      return (context) => lookAtQueue(invocation, context);
    }
    case "store": {
      const { resealStore } = await import("./store.ts");
      return (context) => resealStore(invocation, context);
    }
    case "doctor": {
      const { examine } = await import("./doctor.ts");
      return (context) => examine(invocation, context);
    }
    case "init": {
      const { initialize } = await import("./init.ts");
      return (context) => initialize(invocation, context);
    }
    case "migrate": {
      const { migrate } = await import("./migrate.ts");
      return (context) => migrate(invocation, context);
    }
    case "trust": {
      const { trust } = await import("./trust.ts");
      return (context) => trust(invocation, context);
    }
    case "servers": {
      const { listServers } = await import("./servers.ts");
      return (context) => listServers(invocation, context);
    }
    case "add": {
      const { addMcpServer } = await import("./add.ts");
      return (context) => addMcpServer(invocation, context);
    }
    case "remove": {
      const { removeMcpServer } = await import("./remove.ts");
      return (context) => removeMcpServer(invocation, context);
    }
    case "import": {
      const { importServers } = await import("./import.ts");
      return (context) => importServers(invocation, context);
    }
    case "generate": {
      const { generate } = await import("./generate.ts");
      return (context) => generate(invocation, context);
    }
    case "auth": {
      const { authenticate } = await import("./auth.ts");
      return (context) => authenticate(invocation, context);
    }
    case "skills": {
      const { manageSkills } = await import("./skills.ts");
      return (context) => manageSkills(invocation, context);
    }
    case "runs": {
      const { manageRuns } = await import("./runs.ts");
      return (context) => manageRuns(invocation, context);
    }
    case "sessions": {
      const { manageSessions } = await import("./sessions.ts");
      return (context) => manageSessions(invocation, context);
    }
    case "workflow": {
      const { manageWorkflows } = await import("./workflow.ts");
      return (context) => manageWorkflows(invocation, context);
    }
    case "customers": {
      const { manageCustomers } = await import("./customers.ts");
      return (context) => manageCustomers(invocation, context);
    }
    case "examples": {
      const { manageExamples } = await import("./examples.ts");
      return (context) => manageExamples(invocation, context);
    }
    case "plugins": {
      const { listPlugins } = await import("./plugins.ts");
      return (context) => listPlugins(invocation, context);
    }
    case "plugin-command": {
      const { runPluginCommand } = await import("./plugin-command.ts");
      return (context) => runPluginCommand(invocation, context);
    }
    case "model": {
      const { pullModel } = await import("./model.ts");
      return (context) => pullModel(invocation, context);
    }
    case "audit": {
      const { verifyAuditLog } = await import("./audit.ts");
      return (context) => verifyAuditLog(invocation, context);
    }
    case "form": {
      const { handleForm } = await import("./form.ts");
      return (context) => handleForm(invocation, context);
    }
    case "bench": {
      const { benchPooling } = await import("./bench.ts");
      return (context) => benchPooling(invocation, context);
    }
    case "help":
    case "version": {
      const { command, text } = invocation;
      const answer = { exitCode: 0, data: { [command]: text }, report: () => [text], brief: () => text };
      return () => Promise.resolve(answer);
    }
  }
}
