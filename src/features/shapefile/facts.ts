// What this format is, without its code, which is loaded for the first body of it.

import type { FileFacts } from '../../libraries/formats/format.ts'

export const shapefileFacts: FileFacts = {
  kind: 'file',
  name: 'shapefile',
  title: 'Shapefile',
  mediaTypes: ['application/vnd.esri.shapefile', 'application/vnd.shp', 'x-gis/x-shapefile', 'application/zip'],
  extensions: ['zip', 'shz'],
  parameters: ['layer', 'charset'],
  about: 'a zip with the .shp, .dbf, .prj and .cpg of a layer',
}
