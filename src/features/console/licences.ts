// Licences under which data is given away, as a form offers them: short name (that of SPDX), name, and where its text is.

export const licences = [
  ['CC0-1.0', 'Creative Commons Zero 1.0 Universal', 'https://creativecommons.org/publicdomain/zero/1.0/'],
  ['CC-BY-4.0', 'Creative Commons Attribution 4.0 International', 'https://creativecommons.org/licenses/by/4.0/'],
  [
    'CC-BY-SA-4.0',
    'Creative Commons Attribution Share Alike 4.0 International',
    'https://creativecommons.org/licenses/by-sa/4.0/',
  ],
  ['ODbL-1.0', 'Open Data Commons Open Database License 1.0', 'https://opendatacommons.org/licenses/odbl/1-0/'],
  ['ODC-By-1.0', 'Open Data Commons Attribution License 1.0', 'https://opendatacommons.org/licenses/by/1-0/'],
  ['DL-DE-BY-2.0', 'Data licence Germany – attribution – version 2.0', 'https://www.govdata.de/dl-de/by-2-0'],
  ['DL-DE-ZERO-2.0', 'Data licence Germany – zero – version 2.0', 'https://www.govdata.de/dl-de/zero-2-0'],
  [
    'OGL-UK-3.0',
    'Open Government Licence v3.0',
    'https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/',
  ],
] as const
