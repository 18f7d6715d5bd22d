import type { AdapterRow } from '../../../bridge/adapter.ts'
import { ClaudeAdapter } from './claude-adapter.ts'
import { claudeSettings } from './settings.ts'

export const claudeRow: AdapterRow = {
  id: 'claude',
  title: 'Claude Code',
  proves: ['written', 'delivered', 'turn_started'],
  settings: claudeSettings,
  create: (context) => new ClaudeAdapter(context),
}
