// PostgreSQL's JDBC driver against a node: arguments are the address and the mode of its queries. A line of output for each thing that it
// does: what the test expects of it is in postgres-drivers.test.ts.

import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import org.postgresql.PGConnection;

public class Driver {
  interface Work {
    Object of(Connection connection) throws Exception;
  }

  static String rows(ResultSet found) throws SQLException {
    StringBuilder out = new StringBuilder();
    int columns = found.getMetaData().getColumnCount();
    while (found.next()) {
      if (out.length() > 0) out.append(';');
      for (int i = 1; i <= columns; i++) out.append(i > 1 ? "|" : "").append(found.getString(i));
    }
    return out.toString();
  }

  static void told(Connection connection, String name, Work work) {
    try {
      System.out.println(name + ": " + work.of(connection));
    } catch (SQLException error) {
      System.out.println(name + ": refused " + error.getSQLState() + (System.getenv("WHY") == null ? "" : " " + error));
    } catch (Exception error) {
      System.out.println(name + ": failed " + error);
    }
  }

  static long cursor(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(50);
      long sum = 0;
      try (ResultSet found = statement.executeQuery("select n from \"demo/all\" order by n")) {
        while (found.next()) sum += found.getLong(1);
      }
      connection.commit();
      return sum;
    } finally {
      connection.setAutoCommit(true);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("user", "anonymous");
    properties.setProperty("preferQueryMode", arguments[1]);
    try (Connection connection = DriverManager.getConnection(arguments[0], properties)) {
      told(connection, "types", (c) -> rows(c.createStatement().executeQuery(arguments[2])));
      told(connection, "prepared", (c) -> {
        try (PreparedStatement statement = c.prepareStatement("select n from \"demo/all\" where n = ? and word = ?")) {
          StringBuilder out = new StringBuilder();
          // The driver names a statement at its server from the fifth time on, and takes rows in binary form then.
          for (int n = 1; n <= 8; n++) {
            statement.setLong(1, n);
            statement.setString(2, "w" + n);
            out.append(rows(statement.executeQuery()));
          }
          return out;
        }
      });
      told(connection, "cursor", (c) -> cursor(c));
      told(connection, "error", (c) -> c.createStatement().executeQuery("select nothing"));
      told(connection, "write", (c) -> c.createStatement().executeUpdate("delete from \"demo/all\""));
      told(connection, "after", (c) -> rows(c.createStatement().executeQuery("select 1")));
      told(connection, "copy", (c) -> {
        StringWriter out = new StringWriter();
        long count = c.unwrap(PGConnection.class).getCopyAPI().copyOut("copy (select n from \"demo/all\" where n < 4 order by n) to stdout", out);
        return count + " " + out.toString().replace('\n', ',');
      });
      told(connection, "several", (c) -> {
        Statement statement = c.createStatement();
        statement.execute("select 1; select 2");
        statement.getMoreResults();
        return rows(statement.getResultSet());
      });
      told(connection, "notice", (c) -> {
        Statement statement = c.createStatement();
        statement.executeQuery("select count(*) from \"demo/all\"");
        return statement.getWarnings().getMessage().split("@")[0];
      });
      told(connection, "read only", (c) -> {
        c.setReadOnly(true);
        c.setAutoCommit(false);
        c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        String one = rows(c.createStatement().executeQuery("select 1"));
        c.rollback();
        c.setAutoCommit(true);
        c.setReadOnly(false);
        return one;
      });
      told(connection, "valid", (c) -> c.isValid(10));
    }
  }
}
