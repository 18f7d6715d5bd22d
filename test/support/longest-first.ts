import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that wait or work for more than ten seconds. A new one belongs here too. */
const longest = [
  'wake-stream/steps',
  'rest/hostile-values',
  'contract/contract',
  'bridge/opencode/port',
  'bridge/tmux/tmux-adapter',
  'process/nothing-missed',
  'process/crash-under-load',
  'fronts/mcp/http/session-life',
  'readme/follow',
  'fronts/mcp/clients-matrix',
  'access/a2a-walk',
  'gateways/live',
  'process/crash-before-delivery',
  'process/crash-during-digest',
  'fronts/unread-streams',
  'process/mcp-stdio',
  'process/stopping',
  'redaction/redaction',
  'registry/shares',
  'bridge/opencode/plugin',
  'process/starting',
  'public/package',
  'identity/open-calls',
  'access/walk',
  'wakes/retries',
  'tasks/limits',
  'grpc/lifecycle',
  'mailbox/inbox',
  'tasks/expiry',
  'fronts/mcp/http/slow-reader',
  'process/listening',
  'a2a/lifecycle',
  'fronts/http-server',
  'fronts/outage',
  'cli/listen-recipes',
  'bridge/qwen/qwen-adapter',
  'webhooks/outbound',
  'access/mcp-walk',
  'bridge/run/trouble',
  'bridge/run/bridge',
]

/**
 * The order of the files: a project after the other, for a worker ends where the project of its files does; in each the longest
 * first, so that no worker ends with one of them while the others have nothing to do.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(files.map(({ project }) => project.name))].sort().reverse()
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const place = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
      return projects.indexOf(project.name) * (longest.length + 1) + (place < 0 ? longest.length : place)
    }
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}
