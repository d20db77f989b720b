import { CemError, type SessionTask } from "@cem/core";
import * as z from "zod";
import { declareRoute, type ApiScope } from "./api-route.ts";
import { shown } from "./resource-routes.ts";
import * as schemas from "./schemas.ts";

const Id = z.object({ id: z.string() });
const RESUMABLE: ReadonlySet<string> = new Set(["error", "timeout", "cancelled", "interrupted"]);
const NOT_SHOWN = "not shown here: clients with identities of their own share one workspace.";
const NO_SESSIONS = `Sessions are ${NOT_SHOWN}`;
const NO_WORKFLOWS = `Workflows are ${NOT_SHOWN}`;
const NO_CUSTOMERS = `Customers are ${NOT_SHOWN}`;
const NO_QUEUE =
  "This server executes runs itself, or has several customers, who don't see the queue of all.";

/** Records of earlier work and its resources: workflows, sessions, customers, guests. */
export const HISTORY_ROUTES = [
  declareRoute("GET /workflows", {
    operationId: "listWorkflows",
    summary: "List the workflows of the configuration",
    answer: schemas.WorkflowList,
    async handle(_, { parts }) {
      if (parts.workflows === undefined) return { workflows: [], absent: NO_WORKFLOWS };
      return { workflows: await parts.workflows.list() };
    },
  }),
  declareRoute("GET /workflows/{name}", {
    operationId: "drawWorkflow",
    summary: "Draw a workflow",
    input: { params: z.object({ name: z.string() }) },
    answer: schemas.WorkflowGraph,
    handle: async ({ params: { name } }, { parts }) => ({
      name,
      steps: await workflowsOf(parts).draw(name),
    }),
  }),
  declareRoute("GET /workflow-runs", {
    operationId: "listWorkflowRuns",
    summary: "List runs of workflows, the newest first",
    answer: schemas.WorkflowRunList,
    handle: async (_, { parts }) => ({ runs: (await parts.workflows?.runs()) ?? [] }),
  }),
  declareRoute("GET /workflow-runs/{id}", {
    operationId: "getWorkflowRun",
    summary: "Read a run of a workflow with what became of its steps",
    input: { params: Id },
    answer: schemas.WorkflowRun,
    async handle({ params }, { parts, client }) {
      const run = await workflowsOf(parts).run(params.id);
      return shown({ ...run, canResume: RESUMABLE.has(run.status) }, client);
    },
  }),
  declareRoute("GET /sessions", {
    operationId: "listSessions",
    summary: "List logged sessions, the newest first",
    answer: schemas.SessionList,
    async handle(_, { parts, client }) {
      if (parts.sessions === undefined) return { sessions: [], absent: NO_SESSIONS };
      return shown({ sessions: await parts.sessions.list() }, client);
    },
  }),
  declareRoute("GET /sessions/{id}", {
    operationId: "getSession",
    summary: "Read a logged session",
    input: { params: Id },
    answer: schemas.Session,
    async handle({ params }, { parts, client }) {
      if (parts.sessions === undefined) throw new CemError("SESSIONS_DISABLED", NO_SESSIONS);
      const { session, recap } = await parts.sessions.read(params.id);
      const { session_id: id, started_at: startedAt, ended_at: endedAt } = session;
      return shown({ id, startedAt, endedAt, recap, tasks: session.tasks.map(taskOf) }, client);
    },
  }),
  declareRoute("GET /customers", {
    operationId: "listCustomers",
    summary: "List customers with what they have and used: the customer of the request, or all",
    answer: schemas.CustomerList,
    async handle(_, { parts }) {
      if (parts.customers === undefined) return { customers: [], absent: NO_CUSTOMERS };
      return { customers: await parts.customers.list() };
    },
  }),
  declareRoute("DELETE /customers/{id}", {
    operationId: "deleteCustomer",
    summary: "Remove everything of a customer",
    input: { params: Id, body: schemas.Confirmation },
    answer: schemas.Done,
    async handle({ params, body }, { parts, board, client }) {
      const listed = (await parts.customers?.list()) ?? [];
      if (!listed.some(({ id }) => id === params.id))
        throw new CemError("CUSTOMER_NOT_FOUND", "There is no such customer here.");
      if (body.confirm !== params.id)
        throw new CemError("OPTION_INVALID", "confirm has to be the customer's id. Nothing was removed.");
      await parts.customers?.remove(params.id);
      if (parts.customers?.isOwn === true) board.forget(client.audience);
      return { done: true as const };
    },
  }),
  declareRoute("GET /guests", {
    operationId: "getGuests",
    summary: "Count the guests that run code: those of the request's customer, or all",
    answer: schemas.GuestCounts,
    handle(_, { client, board, parts }) {
      const latest = board.list(client.audience).find(({ details }) => details.sandbox !== undefined);
      const sandbox = latest?.details.sandbox;
      return {
        counts: client.agent.sandboxStats?.() ?? null,
        isolation: sandbox?.level ?? null,
        mechanisms: sandbox?.mechanisms ?? [],
        memoryLimitMb: parts.guestMemoryMb ?? null,
        since: board.since.toISOString(),
      };
    },
  }),
  declareRoute("GET /queue", {
    operationId: "getQueue",
    summary: "How the queue of runs keeps up",
    answer: schemas.QueueFigures,
    async handle(_, { parts, client }) {
      if (parts.queue === undefined) return { minutes: [], runs: [], absent: NO_QUEUE };
      return shown(await parts.queue.read(), client);
    },
  }),
];

function taskOf({ task_id: id, description, code, result, output, timestamp: at, error }: SessionTask) {
  return { id, description, code, result, output, at, error };
}

function workflowsOf({ workflows }: ApiScope["parts"]): NonNullable<ApiScope["parts"]["workflows"]> {
  if (workflows !== undefined) return workflows;
  throw new CemError("WORKFLOW_NOT_FOUND", NO_WORKFLOWS);
}
