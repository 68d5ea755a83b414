// The columns of a file, from its schema: flat ones have a type of ours, nested ones are JSON text.
// Source: Apache Parquet, parquet.thrift (SchemaElement), LogicalTypes (nested types).

import { type Field, optional } from '../../model/schema.ts'
import type { SchemaElement } from './footer.ts'
import { damaged, inColumn, unsupported } from './refusals.ts'
import type { Leaf } from './leaf-cursor.ts'
import { leafType } from './leaf-types.ts'

const repetitions = { required: 0, optional: 1, repeated: 2 } as const

/** A node of the schema below the root: a leaf, or a group of nodes. Levels are those at which its value is there. */
export interface SchemaNode {
  readonly name: string
  readonly element: SchemaElement
  readonly isOptional: boolean
  readonly isRepeated: boolean
  readonly maxDefinition: number
  readonly maxRepetition: number
  readonly leaf: Leaf | undefined
  readonly children: readonly SchemaNode[]
}

/** A top-level column. `leaves`: those of its node, in order. */
export interface FileColumn {
  readonly field: Field
  readonly node: SchemaNode
  readonly isFlat: boolean
  readonly leaves: readonly Leaf[]
}

/** The columns of `schema`, nested at most `mostDepth` levels deep. Throws ParquetFault that names the column. */
export function fileColumns(schema: readonly SchemaElement[], mostDepth: number): FileColumn[] {
  const [root] = schema
  if (root === undefined || root.children === undefined) return damaged('has no schema')
  const walk: Walk = { schema, mostDepth, at: 1, leaves: [] }
  const columns: FileColumn[] = []
  for (let i = 0; i < root.children; i++) {
    const first = walk.leaves.length
    const node = readNode(walk, { maxDefinition: 0, maxRepetition: 0, depth: 1, path: '' })
    columns.push(fileColumn(node, walk.leaves.slice(first)))
  }
  if (walk.at !== schema.length) damaged('has a schema of more elements than its columns have')
  return columns
}

interface Walk {
  readonly schema: readonly SchemaElement[]
  readonly mostDepth: number
  at: number
  readonly leaves: Leaf[]
}

interface Above {
  readonly maxDefinition: number
  readonly maxRepetition: number
  readonly depth: number
  readonly path: string
}

function readNode(walk: Walk, above: Above): SchemaNode {
  const element = walk.schema[walk.at++] ?? damaged('has a schema of fewer elements than it says')
  const { name, repetition, children } = element
  const path = above.path === '' ? name : `${above.path}.${name}`
  try {
    if (above.depth > walk.mostDepth) unsupported(`is nested more than ${walk.mostDepth} levels deep`)
    const isRepeated = repetition === repetitions.repeated
    const levels = {
      maxDefinition: above.maxDefinition + (repetition === repetitions.required ? 0 : 1),
      maxRepetition: above.maxRepetition + (isRepeated ? 1 : 0),
    }
    const head = { name, element, isOptional: repetition === repetitions.optional, isRepeated, ...levels }
    if (children === undefined) {
      const leaf = { index: walk.leaves.length, path, ...levels, leafType: leafType(element) }
      walk.leaves.push(leaf)
      return { ...head, leaf, children: [] }
    }
    if (children === 0) unsupported('is a group without columns')
    const nodes: SchemaNode[] = []
    for (let i = 0; i < children; i++) nodes.push(readNode(walk, { ...levels, depth: above.depth + 1, path }))
    return { ...head, leaf: undefined, children: nodes }
  } catch (error) {
    throw inColumn(error, path)
  }
}

function fileColumn(node: SchemaNode, leaves: readonly Leaf[]): FileColumn {
  const isFlat = node.leaf !== undefined && !node.isRepeated
  const type = node.leaf !== undefined && isFlat ? node.leaf.leafType.type : ({ kind: 'String' } as const)
  const isRequired = !node.isOptional && !node.isRepeated
  return { field: { name: node.name, type: isRequired ? type : optional(type) }, node, isFlat, leaves }
}
