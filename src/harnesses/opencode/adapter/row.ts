import type { AdapterRow } from '../../../bridge/adapter.ts'
import { OpenCodeAdapter } from './opencode-adapter.ts'
import { settings } from './settings.ts'

export const row: AdapterRow = {
  id: 'opencode',
  title: 'OpenCode',
  proves: ['accepted', 'written', 'held', 'delivered', 'turn_started'],
  settings,
  create: (context) => new OpenCodeAdapter(context),
}
