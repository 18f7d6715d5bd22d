/** A program that may be typed into, and how its screen reads. A screen that does not read so is left alone. */
export interface Program {
  /** `Claude Code` */
  readonly title: string
  /** The path of the program, or of the script that Node runs. */
  readonly path: RegExp
  /** The first row of its composer, up to the text. */
  readonly composer: RegExp
  /** The row below the composer. */
  readonly composerEnd: RegExp
  /** Where its composer has a frame: the row above it. A prompt in a transcript has none. */
  readonly composerBegin?: RegExp
  /** What the composer shows while it is empty, where that is not drawn faint. */
  readonly placeholder?: RegExp
  /** Decoration at the ends of the composer's rows. */
  readonly edge?: RegExp
  /** It leaves the terminal's cursor in its composer. */
  readonly hasCursor?: true
  /** It works on a turn. */
  readonly busy: RegExp
  /** It asks its user something. */
  readonly approval: RegExp
}

const rule = /^\s*[─━▀▄╭╰┌└]{3,}/u
/** In a terminal with 256 colours Gemini CLI draws its frame as rows with a background alone. */
const ruleOrNothing = /^\s*([─━▀▄╭╰┌└]{3,}|$)/u
const boxed = /^\s*[│┃]|[│┃]\s*$/gu
const google = {
  composer: /^\s*[│┃]?\s*[>*]\s{1,3}/u,
  composerBegin: rule,
  composerEnd: rule,
  placeholder: /^\s*Type your message or @path\/to\/file\s*$/u,
  edge: boxed,
  busy: /\besc to cancel\b/iu,
  approval:
    /^\s*[│┃]?\s*[●›>❯]\s*1\.\s|Apply this change\?|Allow execution|Do you want to proceed|Waiting for user confirmation|Action required/iu,
} as const

/** The programs whose screens were described, by the names that the configuration has for them. */
export const programs = {
  claude: {
    title: 'Claude Code',
    path: /(^|\/)claude(\.exe)?$|\/@anthropic-ai\/claude-code(-[\w-]+)?\//u,
    composer: /^\s*[│┃]?\s*[❯>][ \u00a0]?/u,
    composerBegin: rule,
    composerEnd: rule,
    edge: boxed,
    busy: /\besc to interrupt\b|^\s*[·✢✳✶✻✽*] \p{L}+…/iu,
    approval:
      /^\s*[│┃]?\s*[❯>]\s*\d\.\s|Do you want to|Would you like to proceed|\bEsc to cancel\b|\bEnter to (confirm|select)\b/iu,
  },
  codex: {
    title: 'Codex',
    path: /(^|\/)codex(\.js)?$|\/@openai\/codex(-[\w-]+)?\//u,
    composer: /^› ?/u,
    composerEnd: /^\s*$/u,
    hasCursor: true,
    // Sometimes a spinner of a status line is drawn after the text.
    edge: /[\s\u2800-\u28ff]+$/gu,
    busy: /\besc to interrupt\b/iu,
    approval:
      /^\s*›\s*\d\.\s|Would you like to|Allow command|\bPress enter to (confirm|continue)\b|\bHooks need review\b/iu,
  },
  qwen: { title: 'Qwen Code', path: /(^|\/)qwen$|\/@qwen-code\/qwen-code\//u, ...google },
  gemini: {
    title: 'Gemini CLI',
    path: /(^|\/)gemini$|\/@google\/gemini-cli\//u,
    ...google,
    composerBegin: ruleOrNothing,
    composerEnd: ruleOrNothing,
  },
} as const satisfies Readonly<Record<string, Program>>

export type ProgramName = keyof typeof programs
export const programNames = Object.keys(programs) as ProgramName[]
