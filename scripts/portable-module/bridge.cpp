// A small C API over DuckDB for a WebAssembly host: open, query, free, close.
// A query answers with JSON text. Each value is DuckDB's own text for it, or null.
#include "duckdb.hpp"
#include "duckdb/common/vector_operations/vector_operations.hpp"

#include <cstdlib>
#include <cstring>

using namespace duckdb;

struct Handle {
	duckdb::unique_ptr<DuckDB> database;
	duckdb::unique_ptr<Connection> connection;
};

static void AppendJsonString(std::string &out, const char *text, size_t length) {
	static const char *const HEX = "0123456789abcdef";
	out += '"';
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == '"' || c == '\\') {
			out += '\\';
			out += (char)c;
		} else if (c < 0x20) {
			out += "\\u00";
			out += HEX[c >> 4];
			out += HEX[c & 15];
		} else {
			out += (char)c;
		}
	}
	out += '"';
}

static void AppendJsonString(std::string &out, const std::string &text) {
	AppendJsonString(out, text.data(), text.size());
}

static std::string ErrorJson(const ErrorData &error) {
	std::string out = "{\"error\":";
	AppendJsonString(out, error.RawMessage());
	out += ",\"kind\":";
	AppendJsonString(out, Exception::ExceptionTypeToString(error.Type()));
	return out + "}";
}

static char *CopyOut(const std::string &text) {
	char *copy = (char *)malloc(text.size() + 1);
	if (copy) {
		memcpy(copy, text.c_str(), text.size() + 1);
	}
	return copy;
}

// The rows are cast to text with the connection's own settings, so the TimeZone setting is in force.
static void AppendRows(std::string &out, ClientContext &context, QueryResult &result) {
	bool first = true;
	while (true) {
		auto chunk = result.Fetch();
		if (!chunk || chunk->size() == 0) {
			return;
		}
		auto count = chunk->size();
		DataChunk texts;
		duckdb::vector<LogicalType> text_types(chunk->ColumnCount(), LogicalType::VARCHAR);
		texts.Initialize(Allocator::DefaultAllocator(), text_types, count);
		for (idx_t column = 0; column < chunk->ColumnCount(); column++) {
			VectorOperations::Cast(context, chunk->data[column], texts.data[column], count);
			texts.data[column].Flatten(count);
		}
		for (idx_t row = 0; row < count; row++) {
			out += first ? "[" : ",[";
			first = false;
			for (idx_t column = 0; column < chunk->ColumnCount(); column++) {
				if (column) {
					out += ',';
				}
				auto &vector = texts.data[column];
				if (FlatVector::IsNull(vector, row)) {
					out += "null";
				} else {
					auto &text = FlatVector::GetData<string_t>(vector)[row];
					AppendJsonString(out, text.GetData(), text.GetSize());
				}
			}
			out += ']';
		}
	}
}

static std::string RunQuery(Handle &handle, const char *sql) {
	auto result = handle.connection->Query(sql);
	if (result->HasError()) {
		return ErrorJson(result->GetErrorObject());
	}
	QueryResult *last = result.get();
	while (last->next) {
		last = last->next.get();
		if (last->HasError()) {
			return ErrorJson(last->GetErrorObject());
		}
	}
	std::string out = "{\"names\":[";
	for (idx_t i = 0; i < last->names.size(); i++) {
		out += i ? "," : "";
		AppendJsonString(out, last->names[i]);
	}
	out += "],\"types\":[";
	for (idx_t i = 0; i < last->types.size(); i++) {
		out += i ? "," : "";
		AppendJsonString(out, last->types[i].ToString());
	}
	out += "],\"rows\":[";
	auto &context = *handle.connection->context;
	context.RunFunctionInTransaction([&]() { AppendRows(out, context, *last); });
	return out + "]}";
}

static char *last_error = nullptr;

static void KeepError(const ErrorData &error) {
	free(last_error);
	last_error = CopyOut(ErrorJson(error));
}

extern "C" {

// The text stays owned by the module, until the next failed open.
const char *ddb_error() {
	return last_error;
}

// memory_limit is text such as "1GB". Answers null when the database cannot be opened, see ddb_error.
Handle *ddb_open(const char *memory_limit) {
	try {
		DBConfig config;
		config.SetOptionByName("threads", Value::BIGINT(1));
		config.SetOptionByName("memory_limit", Value(std::string(memory_limit)));
		config.options.use_temporary_directory = false;
		auto handle = make_uniq<Handle>();
		handle->database = make_uniq<DuckDB>(nullptr, &config);
		handle->connection = make_uniq<Connection>(*handle->database);
		return handle.release();
	} catch (std::exception &exception) {
		KeepError(ErrorData(exception));
	} catch (...) {
		KeepError(ErrorData("unknown failure"));
	}
	return nullptr;
}

// Answers JSON: names, types, rows of the last statement, or error and kind. Free it with ddb_free.
char *ddb_query(Handle *handle, const char *sql) {
	try {
		return CopyOut(RunQuery(*handle, sql));
	} catch (std::exception &exception) {
		return CopyOut(ErrorJson(ErrorData(exception)));
	} catch (...) {
		return CopyOut("{\"error\":\"unknown failure\",\"kind\":\"Unknown\"}");
	}
}

void ddb_free(char *text) {
	free(text);
}

void ddb_close(Handle *handle) {
	delete handle;
}
}
