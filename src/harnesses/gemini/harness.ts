import { join } from 'node:path'
import { hookSeconds } from '../entries.ts'
import type { Harness } from '../harness.ts'
import { endsUnlessItGoesOn, noticed, prompted, rests, specificOutput, starts } from '../hooks.ts'
import { homeOf, type Place } from '../places.ts'
import { boxed, rule, type Screen } from '../screen.ts'
import { settingsInstall } from './install.ts'

const home = (place: Place): string => join(place.env.GEMINI_CLI_HOME || homeOf(place), '.gemini')
const events = ['SessionStart', 'BeforeAgent', 'Notification', 'AfterAgent', 'SessionEnd']

/** Of Gemini CLI, and of Qwen Code, which is made from it. */
export const geminiScreen: Omit<Screen, 'path'> = {
  composer: /^\s*[│┃]?\s*[>*]\s{1,3}/u,
  composerBegin: rule,
  composerEnd: rule,
  placeholder: /^\s*Type your message or @path\/to\/file\s*$/u,
  edge: boxed,
  busy: /\besc to cancel\b/iu,
  approval:
    /^\s*[│┃]?\s*[●›>❯]\s*1\.\s|Apply this change\?|Allow execution|Do you want to proceed|Waiting for user confirmation|Action required/iu,
}

/** In a terminal with 256 colours it draws its frame as rows with a background alone. */
const ruleOrNothing = /^\s*([─━▀▄╭╰┌└]{3,}|$)/u

export const gemini: Harness = {
  id: 'gemini',
  title: 'Gemini CLI',
  binary: 'gemini',
  surface: 'gemini',
  variables: { mark: 'GEMINI_CLI', home: 'GEMINI_CLI_HOME' },
  home,
  install: settingsInstall('gemini', home, events, { name: 'rouse', timeout: hookSeconds * 1000 }),
  hooks: {
    acts: {
      sessionstart: starts,
      beforeagent: prompted,
      afteragent: rests,
      notification: noticed,
      sessionend: endsUnlessItGoesOn,
    },
    prompt: 'beforeagent',
    contextOutput: specificOutput,
  },
  screen: {
    ...geminiScreen,
    path: /(^|\/)gemini$|\/@google\/gemini-cli\//u,
    composerBegin: ruleOrNothing,
    composerEnd: ruleOrNothing,
  },
}
