/** The way out of a refusal: one sentence or two for each kind of reader. */
export interface Remedy {
  /** For clients of the HTTP API: the end of a problem's `detail`. */
  readonly http: string
  /** For a person at a terminal. Commands stand in backticks. */
  readonly cli: string
  /** For a model: one text, or one with the tools of agents and one with those of operators. */
  readonly tool: string | { readonly agent: string; readonly operator: string }
}

type OfSubscription = { readonly subscriptionId: string }
type OfLimit = { readonly limit: string }

/** It names nothing of HTTP but its words. */
const elsewhere = (http: string, others: string): Remedy => ({ http, cli: others, tool: others })

/** It names a command also over HTTP. */
const byCommand = (http: string, tool: Remedy['tool']): Remedy => ({ http, cli: http, tool })

const raise = (limit: string, what = limit): Remedy & { readonly tool: string } => ({
  http: `The operator may raise ${what} for the project: PATCH /v1/projects/{project}.`,
  cli: `The operator may raise ${what} for the project: \`rouse project limits <project> --set ${limit}=<number>\`.`,
  tool: 'Ask your user: the operator of the gateway may raise it.',
})

/** First this, or a higher limit. */
const orRaise = (limit: string, first: { readonly [Reader in keyof Remedy]: string }): Remedy => ({
  http: `${first.http} ${raise(limit).http}`,
  cli: `${first.cli} ${raise(limit).cli}`,
  tool: `${first.tool} ${raise(limit).tool}`,
})

const forSession = (http: string, cli: string): Remedy => {
  return { http, cli, tool: 'The program that connects you starts one: ask your user to start you again.' }
}
const askToOpen = 'Ask your user: a person opens it.'
const listsAgents = { agent: 'The tool who lists the agents.', operator: 'agents_read lists the agents.' }
const activates = {
  agent: 'Make it active first: manage_wake_subscription with the action update and the status active.',
  operator: 'Make it active first: subscription_write with the action activate.',
}

/**
 * The table of remedies. The key goes with the problem, and the values of its sentence are members of the problem: each reader gets the
 * words of its own language.
 */
export const remedies = {
  'send-key': {
    http: 'Send the header `Authorization: Bearer rk_…` with the key that was returned when the agent was registered.',
    cli: 'The gateway needs a key.',
    tool: 'The gateway needs a key. Ask your user to set one.',
  },
  'replace-key': byCommand(
    'An operator can make a new one with `rouse agent key add <handle>`.',
    'Ask your user for a new one.',
  ),
  'use-key-with-scope': {
    http: 'Use a key with that scope, or ask for one: POST /v1/agents/{handle}/keys.',
    cli: 'Use a key with that scope, or make one: `rouse agent key add <handle> --scope <list>`.',
    tool: 'Use a key with that scope, or ask your user for one.',
  },
  'use-key-of-person': {
    http: 'An admin makes one for a person: POST /v1/operator-keys {"role": "manager", "label": "anna", "approve": true}.',
    cli: 'An admin makes one for a person: `rouse operator key add --role manager --label anna --approve`.',
    tool: 'Only a person may do that, with a key of their own. Ask your user.',
  },
  'use-key-of-project': {
    http: 'If it is private, send a key of its project: Authorization: Bearer rk_…',
    cli: 'If it is private, use a key of its project.',
    tool: { ...listsAgents, agent: 'The tool who lists the agents that you can reach.' },
  },
  'sign-in-again': byCommand('Print a new one with `rouse open`.', 'Ask your user for a new one.'),
  'list-operator-keys': {
    http: 'List them: GET /v1/operator-keys.',
    cli: 'List them: `rouse operator key list`.',
    tool: 'Ask your user which there are.',
  },
  'use-manager': elsewhere('Leave the field out, or use the role manager.', 'Leave it out, or use the role manager.'),
  'name-project': {
    http: 'Name one project with the header Rouse-Project.',
    cli: 'Name one project with --project.',
    tool: 'Name one project.',
  },
  'list-agents': byCommand('`rouse agent list` lists the agents.', listsAgents),
  'show-agents': byCommand('`rouse who` lists the agents.', listsAgents),
  'free-names': ({ agent }: { readonly agent: string }): Remedy => ({
    http: `Choose another name, or free the names of that agent: DELETE /v1/agents/${agent}?freeNames=true.`,
    cli: `Choose another name, or free the names of that agent: \`rouse agent rm ${agent} --free-names\`.`,
    tool: 'Choose another name, or ask your user to free the names of that agent.',
  }),
  'be-granted-mail': byCommand(
    'The agent or the operator can grant you CAN_REPLY_TO with `rouse permission add`. Answers to its own messages need no grant.',
    {
      agent:
        'The agent or the operator can grant you CAN_REPLY_TO with the tool grant. Answers to its own messages need no grant.',
      operator: 'The agent or your user can grant CAN_REPLY_TO. Answers to its own messages need no grant.',
    },
  ),
  'be-granted-broadcasts': byCommand('An agent or the operator can grant it with `rouse permission add`.', {
    agent: 'An agent or the operator can grant you CAN_REPLY_TO with the tool grant.',
    operator: 'An agent or your user can grant it.',
  }),
  'raise-limit': ({ limit }: OfLimit) => raise(limit),
  'raise-rate': ({ limitName }: { readonly limitName: string }) => raise(limitName, 'it'),
  'wait-for-retention': {
    http: 'Mail is removed when its retention is over; the operator may raise bytesStored for the project: PATCH /v1/projects/{project}.',
    cli: 'Mail is removed when its retention is over; the operator may raise bytesStored with `rouse project limits`.',
    tool: `Mail is removed when its retention is over. ${raise('bytesStored').tool}`,
  },
  'release-claims': ({ limit }: OfLimit) =>
    orRaise(limit, {
      http: 'Release those that are done: DELETE /v1/claims.',
      cli: 'Release those that are done: `rouse claim release <ref>`.',
      tool: 'Release those that are done, with the action release.',
    }),
  'close-streams': ({ limit }: OfLimit) =>
    orRaise(limit, {
      http: 'Close streams that you do not read, or follow several tasks with one `GET /v1/events`.',
      cli: 'Close streams that you do not read, or follow several tasks with one `rouse tail --follow`.',
      tool: 'Streams that nobody reads can be closed.',
    }),
  'wait-less': ({ limit }: OfLimit) =>
    orRaise(limit, {
      http: 'Send with returnImmediately: true, and follow the task; read the inbox without waitSeconds; poll without timeoutMs.',
      cli: 'Send without --wait, and follow the task with `rouse tail --follow`.',
      tool: 'Leave wait out, and wait for messages once at a time.',
    }),
  'start-session': forSession('Start one: POST /v1/sessions {"surface": "…"}.', 'Start one: `rouse session start`.'),
  'start-session-of-process': forSession(
    'Start one for it: POST /v1/sessions {"surface": "…", "pid": …, "startedAt": "…"}.',
    'Start one for it: `rouse session start --pid <pid> --started-at <instant>`.',
  ),
  'start-session-again': forSession('Start it again: POST /v1/sessions.', 'Start it again: `rouse session start`.'),
  'list-sessions': {
    http: 'GET /v1/sessions lists your sessions.',
    cli: '`rouse session list` lists your sessions.',
    tool: { agent: 'The tool whoami says who you are.', operator: 'agents_read shows who has a live session.' },
  },
  'list-subscriptions': byCommand('`rouse sub list` lists your subscriptions.', {
    agent: 'The action list shows your subscriptions.',
    operator: 'subscriptions_read lists the subscriptions.',
  }),
  activate: ({ subscriptionId }: OfSubscription): Remedy => ({
    http: 'Make it active first: PATCH {"status":"active"}.',
    cli: `Make it active first: \`rouse sub update ${subscriptionId} --status active\`.`,
    tool: activates,
  }),
  resume: ({ subscriptionId }: OfSubscription): Remedy => ({
    http: 'Make it active first: PATCH {"status":"active"} resumes from its cursor.',
    cli: `Make it active first: \`rouse sub update ${subscriptionId} --status active\` resumes from its cursor.`,
    tool: activates,
  }),
  'list-deliveries': ({ subscriptionId }: OfSubscription): Remedy => ({
    http: 'GET …/deliveries lists its deliveries.',
    cli: `\`rouse sub deliveries ${subscriptionId}\` lists its deliveries.`,
    tool: { agent: 'The action resync sends wakes again.', operator: 'deliveries_read lists its deliveries.' },
  }),
  'make-signing-key': ({ subscriptionId }: OfSubscription): Remedy => ({
    http: 'Make one with PATCH {"rotateSigningKey":true}.',
    cli: `Make one with \`rouse sub update ${subscriptionId} --rotate-key\`.`,
    tool: {
      agent: 'Make one: manage_wake_subscription with the action update and rotateSigningKey.',
      operator: 'Ask your user to make one.',
    },
  }),
  'connect-reader': {
    http: 'Open GET /v1/wake-stream, or run `rouse listen`.',
    cli: 'Run `rouse listen` or `rouse bridge` where its agent works.',
    tool: {
      agent: 'Ask your user to run `rouse listen`.',
      operator: 'Its reader has to connect: `rouse listen`, or `rouse bridge`.',
    },
  },
  'choose-event-type': ({ known }: { readonly known: string }) =>
    elsewhere(`GET /v1/event-types lists them: ${known}.`, `There are ${known}.`),
  'list-needs': {
    http: 'GET /v1/needs lists what does.',
    cli: '`rouse needs` lists what does.',
    tool: { agent: 'Your user can list what does.', operator: 'needs_read lists what does.' },
  },
  'list-turns': {
    http: 'GET /v1/turns lists your turns.',
    cli: '`rouse turns` lists your turns.',
    tool: 'The program that wakes you keeps your turns.',
  },
  'open-gate': {
    http: 'A person opens it: rouse gate.',
    cli: 'A person opens it: `rouse gate`.',
    tool: { agent: askToOpen, operator: 'recovery_write with the action gate opens it, if your user agrees.' },
  },
  'prove-wakes': ({ agent }: { readonly agent: string }): Remedy => ({
    http: `Run \`rouse wake test ${agent}\`, and send the messageId of the test once it is acknowledged.`,
    cli: `Run \`rouse wake test ${agent}\`, and give --proof <messageId> of the test once it is acknowledged.`,
    tool: {
      agent: askToOpen,
      operator: `Send ${agent} a wake test with message_write (subject "Wake test 1", wakePolicy immediate, body: acknowledge this and do nothing else), and give its messageId as proof once it is acknowledged.`,
    },
  }),
  'prove-wakes-again': ({ agent }: { readonly agent: string }) =>
    byCommand(`Run \`rouse wake test ${agent}\` again.`, {
      agent: askToOpen,
      operator: `Send ${agent} another one with message_write: its subject begins with "Wake test ".`,
    }),
  'find-task': {
    http: 'List your tasks to find it.',
    cli: '`rouse task list` lists your tasks.',
    tool: { agent: 'list_tasks shows your tasks.', operator: 'tasks_read lists the tasks.' },
  },
  'begin-task': ({ contextId, taskId }: { readonly contextId: string; readonly taskId: string }): Remedy => ({
    http: `Send a new message with contextId ${contextId} and referenceTaskIds [${taskId}].`,
    cli: 'Send a new message without --task.',
    tool: `Send a new task with contextId ${contextId} and referenceTaskIds [${taskId}], without taskId.`,
  }),
  'continue-elsewhere': {
    http: 'Continue in a new task that names this one in referenceTaskIds; this one can still be moved without a message.',
    cli: 'Continue in a new task; this one can still be moved without a message.',
    tool: 'Continue in a new task, with this one in referenceTaskIds; this one can still be moved without a message.',
  },
  'send-version': elsewhere(
    'send the version of the task that you have read, in the body or as If-Match: "<version>".',
    'send the version of the task that you have read.',
  ),
  'decide-again': {
    http: 'Read `current`, and decide again.',
    cli: 'Look at the task with `rouse task show`, and decide again.',
    tool: 'The current task follows: read it, and decide again.',
  },
  'find-thread': {
    http: 'Send the threadId of a message.',
    cli: '`rouse inbox` lists your messages.',
    tool: { agent: 'read_inbox shows the threads of your mail.', operator: 'needs_read shows what waits.' },
  },
  'leave-out': elsewhere('Leave the field out.', 'Leave it out.'),
  'begin-thread': elsewhere('Leave the field out to start a thread.', 'Leave it out to start a thread.'),
  'expire-earlier': elsewhere(
    'Send an earlier instant, or leave the field out for a key that does not expire.',
    'Give an earlier instant, or leave it out for a key that does not expire.',
  ),
  'use-page-token': {
    http: 'Send the `nextPageToken` of the previous page, unchanged.',
    cli: 'Give the token at the end of the previous page.',
    tool: 'Give nextPageToken of the page before as pageToken, unchanged.',
  },
  'use-page-token-or-none': {
    http: 'send the `nextPageToken` of the previous page, or leave the field out to start with the first page.',
    cli: 'Give the token at the end of the previous page, or leave it out to start with the first page.',
    tool: 'Give nextPageToken of the page before as pageToken, or leave it out to start with the first page.',
  },
  shorten: ({ max }: { readonly max: number }) =>
    elsewhere(`Too big: expected string to have <=${max} characters`, `is too long: at most ${max} characters`),
} satisfies Record<string, Remedy | ((values: never) => Remedy)>
