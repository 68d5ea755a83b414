// PostgreSQL's to_char, to_date and to_timestamp for times and patterns, which dashboards write, as macros over the engine's strftime
// and strptime. Words of a pattern that these have no like of fail; what is no word stands for itself. Data, and the text of the macros.
// Source: https://www.postgresql.org/docs/15/functions-formatting.html, Table 9.27

/** Words with the engine's spelling: numbers in any case, without zeros before them after FM, and texts in the case that they print. */
const numbers = `
  YYYY:%Y IYYY:%G ID:%u IW:%V MS:%g US:%f FMYYYY:%Y YY:%y MM:%m DD:%d DDD:%j HH24:%H HH12:%I HH:%I MI:%M SS:%S
  FMYY:%-y FMMM:%-m FMDD:%-d FMDDD:%-j FMHH24:%-H FMHH12:%-I FMHH:%-I FMMI:%-M FMSS:%-S`
const told = 'YYYY YY IYYY MM Mon FMMonth DD DDD Dy FMDay ID IW HH24 HH12 HH MI SS MS US AM PM'
const texts = 'Mon:%b Dy:%a AM:%p PM:%p FMMonth:%B FMDay:%A'

/** All words of PostgreSQL, of which `YYYY` comes before `YYY`. The months by themselves are padded to the longest. */
const words =
  '(?:FM|FX|TM)*(?:A\\.M\\.|P\\.M\\.|B\\.C\\.|A\\.D\\.|AM|PM|BC|AD|MONTH|MON|DAY|DY|HH24|HH12|HH|MI|MM|MS|SSSSS|SSSS|SS|US|FF[1-6]|' +
  'Y,YYY|YYYY|YYY|YY|Y|IYYY|IYY|IYDDD|IDDD|ID|IW|IY|I|DDD|DD|D|WW|W|CC|J|Q|RM|TZH|TZM|TZ|OF)(?:TH)?'
const part = `(?i)"(?:[^"\\\\]|\\\\.)*"|${words}|[\\s\\S]`
const spellings = `${numbers} ${texts}`
  .trim()
  .replaceAll(/\s*(\S+):(\S+)/g, (_, word, spelling) => ` WHEN '${word}' THEN '${spelling}'`)
/** What a part is for the engine. */
const spelled =
  `CASE WHEN w[1] = '"' THEN replace(w[2:-2], '%', '%%') WHEN length(w) = 1 AND w NOT SIMILAR TO '[DIJQWYdijqwy]' THEN replace(w, '%', '%%') ` +
  `ELSE coalesce(CASE w${spellings} ELSE CASE WHEN upper(w) NOT IN ('AM', 'PM') THEN CASE upper(w)${spellings} END END END, ` +
  `error('A pattern of times has no "' || w || '" here. Its words: ${told}.')) END`

/** Through lists, since the engine looks for a constant format when a macro is made. */
const pattern = `list_transform([f], lambda p: array_to_string(list_transform(regexp_extract_all(p, '${part}'), lambda w: ${spelled}), ''))[1]`

/** Statements that make the macros. */
export const timeMacros: readonly string[] = [
  `CREATE MACRO to_char(t, f) AS strftime(t, ${pattern})`,
  `CREATE MACRO to_date(t, f) AS CAST(strptime(t, ${pattern}) AS DATE)`,
  `CREATE MACRO to_timestamp(t) AS system.main.to_timestamp(t), (t, f) AS CAST(strptime(t, ${pattern}) AS TIMESTAMP WITH TIME ZONE)`,
]
