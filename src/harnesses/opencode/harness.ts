import { join } from 'node:path'
import type { Harness } from '../harness.ts'
import { xdgConfig } from '../places.ts'
import { opencodeInstall } from './install.ts'

export const opencode: Harness = {
  id: 'opencode',
  title: 'OpenCode',
  binary: 'opencode',
  surface: 'opencode',
  variables: { mark: 'OPENCODE', pid: 'OPENCODE_PID' },
  home: (place) => join(xdgConfig(place), 'opencode'),
  install: opencodeInstall,
  adapter: async () => (await import('./adapter/opencode-adapter.ts')).opencodeRow,
}
