import { claim } from './claim.ts'
import { grant } from './grant.ts'
import { manageWakeSubscription } from './manage-wake-subscription.ts'
import { markMessage } from './mark-message.ts'
import { moveTask } from './move-task.ts'
import { readInbox } from './read-inbox.ts'
import { readThread } from './read-thread.ts'
import { sendMessage } from './send-message.ts'
import { sendTask } from './send-task.ts'
import { setPresence } from './set-presence.ts'
import { getTask, listTasks } from './tasks.ts'
import type { AnyTool } from './tool.ts'
import { waitForMessages } from './wait-for-messages.ts'
import { who } from './who.ts'
import { whoami } from './whoami.ts'

/** Every tool of the MCP front, in the order of `tools/list`. */
export const tools: readonly AnyTool[] = [
  readInbox,
  sendMessage,
  readThread,
  markMessage,
  listTasks,
  getTask,
  moveTask,
  sendTask,
  claim,
  who,
  whoami,
  waitForMessages,
  setPresence,
  grant,
  manageWakeSubscription,
]
