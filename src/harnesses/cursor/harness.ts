import { join } from 'node:path'
import type { Harness } from '../harness.ts'
import { ends, rests, starts, works } from '../hooks.ts'
import { homeOf } from '../places.ts'
import { cursorInstall } from './install.ts'

export const cursor: Harness = {
  id: 'cursor',
  title: 'Cursor',
  binary: 'cursor-agent',
  surface: 'cursor',
  variables: { mark: 'CURSOR_TRACE_ID' },
  home: (place) => join(homeOf(place), '.cursor'),
  install: cursorInstall,
  hooks: {
    // Only the start of a session takes text for the model; `stop` would start a turn with it.
    acts: { sessionstart: starts, beforesubmitprompt: works, stop: rests, sessionend: ends },
    prompt: 'beforesubmitprompt',
    contextOutput: (_event, text) => ({ additional_context: text }),
  },
}
