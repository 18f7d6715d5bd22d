import { z } from 'zod'
import type { Reason } from '../../../words/sender-view.ts'
import type { Program } from '../tmux/programs.ts'
import { readScreen } from '../tmux/screen.ts'
import { styledRows } from '../tmux/styled-rows.ts'

/** The findings of one look at the front of the screen. */
const lookSchema = z.union([
  z.object({ isFront: z.literal(false) }),
  z.object({
    isFront: z.literal(true),
    window: z.string(),
    sheets: z.int().nonnegative(),
    role: z.string(),
    /** `/dev/ttys003`: the tab in front */
    tty: z.string(),
    /** The text of the text area: of a terminal the screen. */
    value: z.string(),
    /** Tells two values apart. */
    mark: z.string().regex(/^\d+-\d+$/),
  }),
])
const writeSchema = z.object({ did: z.enum(['nothing', 'pasted', 'entered']) })

/** The meaning of a look. `mark`: that of the screen that was read. */
export type Verdict =
  | { readonly kind: 'ready'; readonly mark: string }
  | { readonly kind: 'held'; readonly why: string; readonly reason: Reason }

interface ExpectedTerminal {
  readonly application: string
  /** `/dev/ttys003` */
  readonly tty: string
  readonly program: Program
}

/** The terminal's cursor is not known; a program whose composer is known by it alone is not read. */
const nowhere = { x: -1, y: -1 }
const held = (why: string, reason: Reason = 'cannot_start_turn'): Verdict => ({ kind: 'held', why, reason })
const unknown = (why: string): Verdict => held(why, 'presence_unknown')

/** Returns the verdict on a line that is to be pasted, after the output of `osascript`. It is held unless the composer is plainly empty. Pure. Source: S1-21. */
export function verdictOf(printed: string, wanted: ExpectedTerminal): Verdict {
  const seen = lookSchema.safeParse(parsed(printed)).data
  if (!seen) return unknown('what is in front cannot be read')
  if (!seen.isFront) return held(`the window of ${wanted.application} is not in front`)
  if (seen.sheets > 0 || seen.window !== 'AXStandardWindow')
    return held(`a dialog of ${wanted.application} is in front`)
  if (seen.role !== 'AXTextArea') return unknown('no text area has the focus')
  if (seen.tty !== wanted.tty) return held(`another tab of ${wanted.application} is in front`)
  const { kind } = readScreen(styledRows(seen.value), nowhere, wanted.program)
  return kind === 'ready' ? { kind: 'ready', mark: seen.mark } : reasons[kind]
}

const reasons = {
  draft: held('the composer has a draft', 'user_typing'),
  busy: held('the program works on a turn', 'turn_active'),
  approval: held('the program asks its user something', 'waiting_on_approval'),
  unreadable: unknown('the screen cannot be read'),
} as const

/** Returns the effect of the act; undefined: it cannot be determined. Pure. */
export function doneOf(printed: string): 'nothing' | 'pasted' | 'entered' | undefined {
  return writeSchema.safeParse(parsed(printed)).data?.did
}

const settingsOf = (what: string): string =>
  `macOS does not let the bridge ${what}: allow the program that runs it in System Settings, Privacy & Security,`

/** Names the missing permission, and the remedy; undefined: another failure. `stderr`: of `osascript`, in any language. Pure. */
export function missingPermission(stderr: string): string | undefined {
  const code = /\((-\d+)\)\s*$/.exec(stderr)?.[1]
  if (code === '-1743') return `${settingsOf('speak to System Events or the terminal')} Automation.`
  // -1719 stands for whatever is not there, too.
  const isAccess = code === '-25211' || code === '-1002' || (code === '-1719' && /assistive/i.test(stderr))
  return isAccess ? `${settingsOf('see and press keys')} Accessibility.` : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
