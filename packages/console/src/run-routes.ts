import * as z from "zod";
import { declareRoute } from "./api-route.ts";
import { streamRuns } from "./event-stream.ts";
import { listRuns, readRun } from "./recorded-runs.ts";
import { Answer, Done, RunDetails, RunList, RunQuery, StartCode, Started, StartTask } from "./schemas.ts";

const RunId = z.object({ id: z.string() });
const QuestionId = z.object({ id: z.string(), question: z.string() });
const GOES_ON = "The run's id. It goes on by itself.";

/** Tasks and runs: start, list, follow, answer, end. */
export const RUN_ROUTES = [
  declareRoute({
    method: "post",
    path: "/tasks",
    operationId: "startTask",
    summary: "Start a task in words",
    input: { body: StartTask },
    status: 202,
    answer: Started,
    answerDescription: GOES_ON,
    handle: ({ body }, { client }) => started(client.launch("task", body.task)),
  }),
  declareRoute({
    method: "post",
    path: "/runs",
    operationId: "startCode",
    summary: "Start code",
    input: { body: StartCode },
    status: 202,
    answer: Started,
    answerDescription: GOES_ON,
    handle: ({ body }, { client }) => started(client.launch("code", body.code)),
  }),
  declareRoute({
    method: "get",
    path: "/runs",
    operationId: "listRuns",
    summary: "List runs, the latest first",
    input: { query: RunQuery },
    answer: RunList,
    answerDescription: "Those under way and those that are recorded, also of other processes.",
    handle: async ({ query }, scope) => ({ runs: await listRuns(scope, query) }),
  }),
  declareRoute({
    method: "get",
    path: "/runs/{id}",
    operationId: "getRun",
    summary: "Read a run",
    input: { params: RunId },
    answer: RunDetails,
    answerDescription: "All that is kept of the run.",
    handle: ({ params }, scope) => readRun(scope, params.id),
  }),
  declareRoute({
    method: "post",
    path: "/runs/{id}/end",
    operationId: "endRun",
    summary: "End a run under way",
    input: { params: RunId },
    answer: Done,
    answerDescription: "It was told to end.",
    handle({ params }, { board, client }) {
      board.get(params.id, client.audience).end();
      return { done: true as const };
    },
  }),
  declareRoute({
    method: "post",
    path: "/runs/{id}/questions/{question}",
    operationId: "answerQuestion",
    summary: "Answer a question of a run, such as an approval",
    input: { params: QuestionId, body: Answer },
    answer: Done,
    answerDescription: "The run goes on with the answer.",
    handle({ params, body }, { board, client }) {
      board.get(params.id, client.audience).answer(params.question, body);
      return { done: true as const };
    },
  }),
  declareRoute({
    method: "get",
    path: "/events",
    operationId: "followRuns",
    summary: "Follow runs as they change: server-sent events named run, each with a RunSummary",
    input: {},
    answer: z.string(),
    answerDescription: "A stream that lasts until it is closed.",
    type: "text/event-stream",
    handle: (_, { board, client }, signal) => streamRuns(board, client.audience, signal),
  }),
];

function started({ id }: { id: string }): z.infer<typeof Started> {
  return { id, url: `api/v1/runs/${id}` };
}
