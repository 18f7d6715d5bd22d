import type { JsonObject } from '../lib/json.ts'
import { type NewEvent, operatorAudience, type Routing } from '../log/event.ts'
import { nameOfParty, type Party, policiesOf } from '../registry/agents/party.ts'
import type { WakePolicy } from '../words/policies.ts'
import type { TaskState } from '../words/task-states.ts'
import type { Chunk } from './artifact.ts'
import type { Task } from './task.ts'

/** The parties of an event of a task. */
interface TaskEventParties {
  /** The identity of the one who caused it: `@gateway`, where it is no party. */
  readonly actor: string
  /** Its id; absent: the gateway's own decision. */
  readonly actorId?: string | undefined
  readonly originator: Party
  readonly assignee: Party
  /** The one who worked on it before, if the task was handed over. */
  readonly previousAssignee?: Party
}

interface StateChange extends TaskEventParties {
  /** null: the task is new. */
  readonly previousState: TaskState | null
  /** The event of the mail that comes with the change, if a message does. */
  readonly mail?: NewEvent | undefined
  /** `message`: the status message answers the calls that wait. Source: D33. */
  readonly answerAs?: 'task' | 'message' | undefined
  /** The policy that the sender chose for all parties; absent: each party's own. Source: D20. */
  readonly wakePolicy?: WakePolicy | undefined
  /** True when the originator polls for the change as an MCP task. */
  readonly isFollowed?: boolean | undefined
}

/** The projects whose logs have the events of a task: its own, and those of its other parties. Source: D19. */
export function projectsOf({ projectId }: Task, parties: TaskEventParties): string[] {
  const isElsewhere = (party: Party | undefined): boolean => party?.projectId != null && party.projectId !== projectId
  const { originator, assignee, previousAssignee } = parties
  if (!isElsewhere(originator) && !isElsewhere(assignee) && !isElsewhere(previousAssignee)) return [projectId]
  return [...new Set([projectId, ...partiesOf(parties).flatMap((party) => party.projectId ?? [])])]
}

/**
 * The event of a task's change of state or assignee for the log of one project; `task` is the task after it. Its audience: the
 * parties of that project, and the assignee before. Source: S1-25, D18, D19.
 */
export function stateChanged(task: Task, change: StateChange, projectId: string): NewEvent {
  const { previousState, previousAssignee, originator, assignee, mail, answerAs, wakePolicy } = change
  const here = partiesIn(projectId, change)
  const routing: Routing = {
    ...(mail && previousAssignee ? { recipientId: task.assigneeId } : {}),
    ...(wakePolicy === undefined ? policiesOf(here) : {}),
    ...(change.isFollowed ? { followed: [task.originatorId] } : {}),
  }
  const data: JsonObject = {
    taskId: task.id,
    contextId: task.contextId,
    previousState,
    newState: task.state,
    version: task.version,
    originator: nameOfParty(originator, projectId),
    assignee: nameOfParty(assignee, projectId),
  }
  if (previousAssignee) data.previousAssignee = nameOfParty(previousAssignee, projectId)
  data.priority = task.priority
  data.taggedConcepts = task.taggedConcepts
  data.lastModifiedAt = new Date(task.statusAt).toISOString()
  if (task.statusMessageSeq !== null) data.statusMessageSeq = task.statusMessageSeq
  if (task.reason) data.reason = task.reason
  if (mail) data.message = mailSummary(mail.data, actorIn(projectId, change))
  if (answerAs === 'message') data.answerAs = answerAs
  if (wakePolicy !== undefined) data.wakePolicy = wakePolicy
  if (Object.keys(routing).length > 0) data.routing = routing
  return { type: 'task.state_changed', ...addressing(task, change, projectId, here), data }
}

/** The event of a new artifact chunk for the log of one project. It points to the chunk by `seq`. */
export function artifactAdded(
  task: Task,
  parties: TaskEventParties,
  { seq, chunk }: { readonly seq: number; readonly chunk: Chunk },
  projectId: string,
): NewEvent {
  return {
    type: 'task.artifact_added',
    ...addressing(task, parties, projectId),
    data: {
      taskId: task.id,
      contextId: task.contextId,
      seq,
      artifactId: chunk.artifactId,
      append: chunk.append,
      lastChunk: chunk.lastChunk,
    },
  }
}

/**
 * Whom an event is for. Only the event in the task's own project belongs to the task: streams and pushes follow that one, and would
 * otherwise get each event twice.
 */
function addressing(
  task: Task,
  parties: TaskEventParties,
  projectId: string,
  here = partiesIn(projectId, parties),
): Pick<NewEvent, 'actor' | 'actorId' | 'audience' | 'taskId'> {
  const { actorId } = parties
  return {
    actor: actorIn(projectId, parties),
    ...(actorId === undefined ? {} : { actorId }),
    audience: [...here.map(({ id }) => id), ...operatorsOf(task, parties, projectId)],
    ...(projectId === task.projectId ? { taskId: task.id } : {}),
  }
}

function actorIn(projectId: string, parties: TaskEventParties): string {
  const party = partiesOf(parties).find(({ id }) => id === parties.actorId)
  return party ? nameOfParty(party, projectId) : parties.actor
}

function partiesOf({ originator, assignee, previousAssignee }: TaskEventParties): Party[] {
  return previousAssignee ? [assignee, originator, previousAssignee] : [assignee, originator]
}

/** The agents of a project that take part, each once. */
function partiesIn(projectId: string, parties: TaskEventParties): Party[] {
  const here = partiesOf(parties).filter((party) => party.projectId === projectId)
  return here.filter(({ id }, index) => here.findIndex((other) => other.id === id) === index)
}

/** The operator, where it is a party, in the task's own project. Its own acts never wake it. */
function operatorsOf(task: Task, parties: TaskEventParties, projectId: string): string[] {
  const isParty = projectId === task.projectId && partiesOf(parties).some(({ id }) => id === operatorAudience)
  return isParty && parties.actorId !== operatorAudience ? [operatorAudience] : []
}

function mailSummary(data: JsonObject, from: string): JsonObject {
  const { messageId, priority, taggedConcepts, isReplyTo, threadId } = data
  return { messageId, from, priority, taggedConcepts, isReplyTo, threadId }
}
