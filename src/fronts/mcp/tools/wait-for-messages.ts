import { z } from 'zod'
import { mailWaitMax } from '../../../words/mail.ts'
import { follow, McpTask } from '../followed/mcp-task.ts'
import { reads, tool } from './tool.ts'

/** The longest wait of one call. */
const secondsMax = 1_500

/** Below the minute after which most clients give up. */
const secondsDefault = 50

/** Source: S2-14. */
export const waitForMessages = tool({
  name: 'wait_for_messages',
  title: 'Wait for messages',
  description:
    'Blocks until mail comes for you, and returns it as pendingSignals; or says after timeoutSeconds that nothing came: then call it again, if you still want to wait. Only for a harness that nothing else wakes (no hook, webhook or stream), and only when you have nothing else to do. ' +
    'In Claude Code give a long timeoutSeconds (1500), start it and end your turn: after two minutes the call moves to the background, and its result starts a new turn. Until then the prompts of your user wait.',
  followed:
    'Has the next mail wake you. It comes by itself: you get a notification when mail has come, and a new turn if you are idle. So go on, or end your turn; do not wait. Read the mail with read_inbox then, and call this again to be woken by the next. Only if nothing else wakes you (no hook, webhook or stream). timeoutSeconds means nothing here: it waits until mail comes.',
  input: z.strictObject({
    timeoutSeconds: z
      .int()
      .min(1)
      .max(secondsMax)
      .describe(
        `How long to wait: 1 to ${secondsMax}, usually ${secondsDefault}. More than 55 only if your harness lets a tool run that long`,
      )
      .optional(),
  }),
  output: z.looseObject({ arrived: z.boolean().describe('false: nothing yet'), waitedSeconds: z.number() }),
  // The messages that it returns count as delivered, as with every other tool.
  annotations: reads,
  say: ({ arrived, waitedSeconds }) =>
    arrived
      ? 'Mail has come.'
      : `Nothing yet after ${waitedSeconds} s. Call again to go on waiting, or do something else.`,
  run: async (api, { timeoutSeconds = secondsDefault }, { signal, progress, now, followsTasks }) => {
    const { rest, answers } = api
    const followed = followsTasks ? await follow(api) : 'refused'
    if (followed instanceof McpTask) return followed
    if (followed === 'there') {
      await rest('GET /v1/inbox', { query: { waitSeconds: 1 } })
      return { arrived: true, waitedSeconds: 0 }
    }
    const began = now()
    const waited = (): number => Math.round((now() - began) / 1000)
    const hasMail = (): boolean => answers.some(({ pendingSignals }) => pendingSignals.length > 0)
    for (;;) {
      const step = Math.min(stepSeconds, timeoutSeconds - waited())
      const before = waited()
      await rest('GET /v1/inbox', { query: { waitSeconds: step } })
      signal.throwIfAborted()
      if (hasMail()) return { arrived: true, waitedSeconds: waited() }
      // A gateway that stops answers early.
      const isEarly = waited() - before < step - 1
      if (isEarly || waited() >= timeoutSeconds) return { arrived: false, waitedSeconds: waited() }
      progress({ progress: waited(), total: timeoutSeconds, message: 'No mail yet' })
    }
  },
})

/** One question to the gateway: progress after each keeps clients from giving up. */
const stepSeconds = Math.min(20, mailWaitMax)
