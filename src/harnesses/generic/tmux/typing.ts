import type { WakeEnd, WakeTools } from '../../../bridge/adapter.ts'
import { sleep, systemClock } from '../../../lib/clock.ts'
import type { Reason } from '../../../words/sender-view.ts'
import type { Program } from './programs.ts'
import { type Reading, readScreen } from './screen.ts'
import { styledRows } from './styled-rows.ts'
import type { Look, TmuxServer } from './tmux-server.ts'
import { chunksOf, holds, lengthOf, placeOf, squeeze, typedLine } from './typed-line.ts'

/** Two looks this far apart must show the same screen: otherwise the user is typing. */
const stillMs = 600
/** If a key was pressed this recently, at any terminal that shows the pane, the user is typing. */
const keyAgeMs = 3_000
const chunkPauseMs = 10
/** An Enter that comes sooner would count as part of pasted text. */
const enterAfterMs = 500
const enterTriesMax = 3
const echoMsMax = 2_000
const enteredMsMax = 1_500
const lookPauseMs = 50
const afterModeMs = 50
const heldRetryMs = 5_000

interface Hand {
  readonly server: TmuxServer
  readonly pane: string
  readonly program: Program
  readonly now: () => number
}

interface PaneReading extends Look {
  readonly reading: Reading
}

/**
 * Types one line into a pane and presses Enter, if its program waits for its user with an empty composer, and the user is not typing. If
 * the user types meanwhile, nothing is sent: the line is deleted, or left for the user to see. Never presses Escape. Errors: of tmux.
 */
export async function typeLine(hand: Hand, text: string, tools: WakeTools): Promise<WakeEnd> {
  const { server, pane } = hand
  const line = typedLine(text)
  const ready = await waitsForUser(hand)
  if ('step' in ready) return ready
  await tools.handingOver('tmux')
  const before = await look(hand)
  if (!isSame(ready, before)) return held('the screen changed before it was typed', 'presence_unknown')
  const [first = '', ...rest] = chunksOf(line)
  if (!(await server.type(pane, first, before.cursor)))
    return held('the cursor moved before it was typed', 'user_typing')
  for (const chunk of rest) {
    await pause(chunkPauseMs)
    // A pane that now shows its history gets no more of the text: then the line is incomplete, and is not sent.
    await server.type(pane, chunk)
  }
  const echoed = await lookUntil(hand, echoMsMax, ({ reading }) => isThere(reading, line))
  if (place(echoed.reading, line).kind !== 'alone') return takeBack(hand, echoed, line)
  tools.report('routed', 'typed into the composer')
  await pause(enterAfterMs)
  return enter(hand, line)
}

/** Looks twice, and returns the second look; or says why nothing may be typed now. */
async function waitsForUser(hand: Hand): Promise<PaneReading | WakeEnd> {
  const { server, pane, now } = hand
  const keyAt = await server.lastKeyAt(pane)
  // tmux counts in whole seconds.
  if (keyAt !== undefined && now() - keyAt * 1_000 < keyAgeMs + 1_000)
    return held('the user has just pressed a key', 'user_typing')
  let first = await look(hand)
  if (first.isInMode) {
    await server.leaveMode(pane)
    await pause(afterModeMs)
    first = await look(hand)
  }
  if (first.reading.kind !== 'ready') return notReady[first.reading.kind]
  await pause(stillMs)
  const second = await look(hand)
  if (second.reading.kind !== 'ready') return notReady[second.reading.kind]
  return isSame(first, second) ? second : held('the screen changes', 'presence_unknown')
}

/** Presses Enter until the line has left the composer, three times at most. */
async function enter(hand: Hand, line: string): Promise<WakeEnd> {
  let seen = await look(hand)
  for (let tries = 1; tries <= enterTriesMax; tries++) {
    if (place(seen.reading, line).kind !== 'alone') break
    if (seen.reading.kind === 'approval') return { step: 'unknown', detail: `${left}a question came up` }
    const isPressed = await hand.server.press(hand.pane, 'Enter', 1, seen.cursor)
    seen = await lookUntil(hand, isPressed ? enteredMsMax : lookPauseMs, ({ reading }) => hasLeft(reading, line))
    if (hasLeft(seen.reading, line))
      return { step: 'written', detail: `entered into the pane, Enter pressed ${tries} ×` }
  }
  return takeBack(hand, seen, line)
}

const left = 'it is in the composer and was not sent: '

/** Deletes the line, if the text of the composer ends with it. Text that the user typed before it stays. */
async function takeBack(hand: Hand, seen: PaneReading, line: string): Promise<WakeEnd> {
  const was = place(seen.reading, line)
  if (was.kind === 'mixed') return { step: 'unknown', detail: `${left}the user typed more text` }
  if (!(await hand.server.press(hand.pane, 'BSpace', lengthOf(line), seen.cursor))) {
    return { step: 'unknown', detail: `${left}the cursor has moved` }
  }
  const draft = was.kind === 'afterDraft' ? was.draft : ''
  const isBack = ({ reading }: PaneReading): boolean => squeeze(reading.text ?? '-') === draft
  const after = await lookUntil(hand, echoMsMax, isBack)
  if (!isBack(after)) return { step: 'unknown', detail: `${left}it could not be taken back` }
  return takenBack[was.kind]
}

const held = (detail: string, reason: Reason) =>
  ({ step: 'held', detail, reason, retryAfterMs: heldRetryMs }) as const satisfies WakeEnd

const takenBack = {
  // Enter was pressed: it may have begun a turn that the screen did not show.
  alone: { ...held('the program did not take Enter; the line was taken back', 'cannot_start_turn'), isTurn: true },
  begun: held('the program did not show what was typed; it was taken back', 'cannot_start_turn'),
  afterDraft: held('the user began to type; the line was taken back', 'user_typing'),
} as const

/** Why nothing is typed on a screen that does not show an empty composer. */
export const notReady: Readonly<Record<Exclude<Reading['kind'], 'ready'>, WakeEnd>> = {
  draft: held('the composer has a draft', 'user_typing'),
  busy: held('the program works on a turn', 'turn_active'),
  approval: held('the program asks its user something', 'waiting_on_approval'),
  unreadable: held('its screen cannot be read', 'presence_unknown'),
}

const place = (reading: Reading, line: string) => placeOf(reading.text ?? '', line)

function isThere(reading: Reading, line: string): boolean {
  const { kind } = place(reading, line)
  return kind === 'alone' || kind === 'afterDraft'
}

const hasLeft = ({ text }: Reading, line: string): boolean => text === undefined || !holds(text, line)

async function look({ server, pane, program }: Hand): Promise<PaneReading> {
  const seen = await server.look(pane)
  return { ...seen, reading: readScreen(styledRows(seen.screen), seen.cursor, program) }
}

/** Looks until `isSo` is true, or the time is over. Returns the last look. */
async function lookUntil(hand: Hand, msMax: number, isSo: (seen: PaneReading) => boolean): Promise<PaneReading> {
  const end = performance.now() + msMax
  for (;;) {
    const seen = await look(hand)
    if (isSo(seen) || performance.now() >= end) return seen
    await pause(lookPauseMs)
  }
}

function isSame(a: Look, b: Look): boolean {
  return a.screen === b.screen && a.cursor.x === b.cursor.x && a.cursor.y === b.cursor.y && a.isInMode === b.isInMode
}

/** Does not end with the bridge's signal: a line is never left half typed. */
const pause = (ms: number) => sleep(systemClock, ms)
