import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { registerTaskArtifact } from './task-artifact.ts'
import { registerTaskList } from './task-list.ts'
import { registerTaskMove } from './task-move.ts'
import { registerTaskShow } from './task-show.ts'

export function registerTask(program: Command, io: Io): void {
  const task = program.command('task').description('list, show and move tasks, and hand in results')
  registerTaskList(task, io)
  registerTaskShow(task, io)
  registerTaskMove(task, io)
  registerTaskArtifact(task, io)
}
