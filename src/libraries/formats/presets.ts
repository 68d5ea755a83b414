// What the bodies of known producers need, by the name of `preset`: parameters of ingest, and a body as the producer's own
// documentation shows it (tested: test/scenario/presets.test.ts; how to configure each: docs/devices.md). Data.

/** Objects whose member has another text are left out. */
export interface WantedRecords {
  readonly member: string
  readonly texts: readonly string[]
}

export interface Preset {
  readonly about: string
  /** Where the producer's documentation shows the body. */
  readonly source: string
  readonly mediaType: string
  /** What its producer calls a body, and the media type that it is read as. */
  readonly readAs?: Readonly<Record<string, string>>
  /** Query parameters that it stands for; one that is given beside it counts instead. */
  readonly parameters: Readonly<Record<string, string>>
  /** Where its producer sends other messages too, which are no rows. */
  readonly only?: WantedRecords
  readonly example: string
}

const dedupe = 'body'
const flatten = 'true'
/** Whole numbers of a first message are numbers: what is measured has fractions later. */
const integers = 'numbers'
const json = 'application/json'

export const presets = {
  telegraf: {
    about:
      'Telegraf, outputs.http with data_format = "json": a row a metric, a column a tag (tags_…) and field (fields_…)',
    source: 'https://docs.influxdata.com/telegraf/v1/data_formats/output/json/',
    mediaType: json,
    parameters: { records: '/metrics', flatten, integers, eventTime: 'timestamp', eventTimeUnit: 's', dedupe },
    example:
      '{"metrics":[{"fields":{"field_1":30,"field_2":4,"field_N":59,"n_images":660},"name":"docker","tags":{"host":"raynor"},"timestamp":1458229140},' +
      '{"fields":{"field_1":30,"field_2":4,"field_N":59,"n_images":660},"name":"docker","tags":{"host":"raynor"},"timestamp":1458229150}]}',
  },
  ttn: {
    about: 'The Things Stack (The Things Network), webhook with the format JSON: a row an uplink',
    source: 'https://www.thethingsindustries.com/docs/integrations/data-formats/',
    mediaType: json,
    parameters: { flatten, integers, eventTime: 'received_at', dedupe },
    example:
      '{"end_device_ids":{"device_id":"dev1","application_ids":{"application_id":"app1"},"dev_eui":"0004A30B001C0530","join_eui":"800000000000000C","dev_addr":"00BCB929"},' +
      '"correlation_ids":["as:up:01E0WZGT6Y7657CPFPE5WEYDSQ"],"received_at":"2020-02-12T15:15:45.787Z",' +
      '"uplink_message":{"session_key_id":"AXA50tHUGUucKFv/LMDrSg==","f_cnt":1,"f_port":1,"frm_payload":"gkHe","decoded_payload":{"temperature":1.0,"luminosity":0.64},' +
      '"rx_metadata":[{"gateway_ids":{"gateway_id":"gtw1","eui":"9C5C8E00001A05C4"},"time":"2020-02-12T15:15:45.787Z","timestamp":2463457000,"rssi":-35,"snr":5.2}],' +
      '"settings":{"data_rate":{"lora":{"bandwidth":125000,"spreading_factor":7}},"frequency":"868300000","timestamp":2463457000}}}',
  },
  chirpstack: {
    about: 'ChirpStack v4, HTTP integration with the encoding JSON: a row an event',
    source: 'https://www.chirpstack.io/docs/chirpstack/integrations/events.html',
    mediaType: json,
    parameters: { flatten, integers, eventTime: 'time', dedupe },
    example:
      '{"deduplicationId":"3ac7e3c4-4401-4b8d-9386-a5c902f9202d","time":"2022-07-18T09:34:15.775023242+00:00",' +
      '"deviceInfo":{"tenantId":"52f14cd4-c6f1-4fbd-8f87-4025e1d49242","tenantName":"ChirpStack","applicationId":"17c82e96-be03-4f38-aef3-f83d48582d97","applicationName":"Test application",' +
      '"deviceProfileId":"14855bf7-d10d-4aee-b618-ebfcb64dc7ad","deviceProfileName":"Test device-profile","deviceName":"Test device","devEui":"0101010101010101","tags":{"key":"value"}},' +
      '"devAddr":"00189440","dr":1,"fPort":1,"data":"qg==","rxInfo":[{"gatewayId":"0016c001ff10a235","uplinkId":4217106255,"rssi":-36,"snr":10.5}],' +
      '"txInfo":{"frequency":867100000,"modulation":{"lora":{"bandwidth":125000,"spreadingFactor":11,"codeRate":"CR_4_5"}}}}',
  },
  owntracks: {
    about: 'OwnTracks in the mode HTTP: a row a location',
    source: 'https://owntracks.org/booklet/tech/json/',
    mediaType: json,
    parameters: { flatten, integers, eventTime: 'tst', eventTimeUnit: 's', dedupe },
    only: { member: '_type', texts: ['location', 'transition'] },
    example:
      '{"_type":"location","tid":"jj","acc":15,"alt":154,"batt":53,"conn":"w","lat":48.85833,"lon":2.29513,"t":"u","tst":1497508651,"vel":54,"topic":"owntracks/jjolie/phone"}',
  },
  'fluent-bit': {
    about: 'Fluent Bit, output http with format json: a row a record',
    source: 'https://docs.fluentbit.io/manual/pipeline/outputs/http',
    mediaType: json,
    parameters: { flatten, integers, eventTime: 'date', eventTimeUnit: 's', dedupe },
    example:
      '[{"date":1588188231.164303,"cpu_p":1.5,"user_p":1.0,"system_p":0.5,"log":{"level":"info"}},{"date":1588188232.164299,"cpu_p":1.25,"user_p":0.75,"system_p":0.5}]',
  },
  vector: {
    about: 'Vector, sink http with encoding.codec = "json": a row an event',
    source: 'https://vector.dev/docs/reference/configuration/sinks/http/',
    mediaType: json,
    parameters: { flatten, integers, eventTime: 'timestamp', dedupe },
    example:
      '[{"appname":"benefritz","facility":"authpriv","host":"worf.io","message":"We are not safe","procid":5031,"source_type":"demo_logs","timestamp":"2020-11-19T18:31:27.783271123Z"}]',
  },
  'home-assistant': {
    about: 'Home Assistant, rest_command with trigger.to_state.as_dict(): a row a change of state',
    source: 'https://www.home-assistant.io/docs/configuration/state_object/',
    mediaType: json,
    parameters: { flatten, integers, eventTime: 'last_updated', dedupe },
    example:
      '{"entity_id":"sensor.kitchen_temperature","state":"21.4","attributes":{"state_class":"measurement","unit_of_measurement":"°C","device_class":"temperature","friendly_name":"Kitchen"},' +
      '"last_changed":"2026-01-31T11:58:03.101234+00:00","last_updated":"2026-01-31T12:00:00.000321+00:00","context":{"id":"01KG8Z3C3Q5M2T9E6W7X8Y9Z0A","parent_id":null,"user_id":null}}',
  },
  collectd: {
    about: 'collectd, write_http with Format "JSON": a row a list of values, which is JSON text (values ->> 0 in SQL)',
    source: 'https://www.collectd.org/documentation/manpages/collectd.conf.html#plugin-write_http',
    mediaType: json,
    parameters: { flatten, integers, eventTime: 'time', eventTimeUnit: 's', dedupe },
    example:
      '[{"values":[197141504,175136768],"dstypes":["counter","counter"],"dsnames":["read","write"],"time":1251533299.265,"interval":10.000,"host":"leeloo.lan.home.verplant.org",' +
      '"plugin":"disk","plugin_instance":"sda","type":"disk_octets","type_instance":""}]',
  },
  cloudevents: {
    about:
      'CloudEvents 1.0 in structured mode: a row an event; source and id are the key, so batches of several need dedupe=body',
    source: 'https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md',
    mediaType: 'application/cloudevents+json',
    parameters: { flatten, integers, eventTime: 'time', dedupe: 'source,id' },
    example:
      '{"specversion":"1.0","type":"com.example.someevent","source":"/mycontext","subject":null,"id":"C234-1234-1234","time":"2018-04-05T17:31:00Z","comexampleextension1":"value",' +
      '"comexampleothervalue":5,"datacontenttype":"application/json","data":{"appinfoA":"abc","appinfoB":123,"appinfoC":true}}',
  },
  'otlp-logs': {
    about: 'OpenTelemetry logs by OTLP/HTTP, JSON or protobuf: a row a log record; …/v1/logs needs no preset',
    source: 'https://github.com/open-telemetry/opentelemetry-proto/blob/v1.7.0/examples/logs.json',
    mediaType: json,
    readAs: {
      'application/json': 'application/x-otlp-logs+json',
      'application/x-protobuf': 'application/x-otlp-logs+protobuf',
    },
    parameters: { flatten, dedupe },
    example:
      '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"my.service"}}]},"scopeLogs":[{"scope":{"name":"my.library","version":"1.0.0",' +
      '"attributes":[{"key":"my.scope.attribute","value":{"stringValue":"some scope attribute"}}]},"logRecords":[{"timeUnixNano":"1544712660300000000","observedTimeUnixNano":"1544712660300000000",' +
      '"severityNumber":10,"severityText":"Information","traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174","body":{"stringValue":"Example log record"},' +
      '"attributes":[{"key":"string.attribute","value":{"stringValue":"some string"}},{"key":"int.attribute","value":{"intValue":"10"}}]}]}]}]}',
  },
} as const satisfies Readonly<Record<string, Preset>>

export const presetNames = Object.keys(presets) as readonly (keyof typeof presets)[] // of the table above
