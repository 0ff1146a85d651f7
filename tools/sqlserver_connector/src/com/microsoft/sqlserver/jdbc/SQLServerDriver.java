package com.microsoft.sqlserver.jdbc;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.util.Properties;
import java.util.logging.Logger;
import scripted.ScriptedConnection;

/**
 * Replaces the driver of the same name: the connector loads this class by name, and the classpath has this one before
 * mssql-jdbc's.
 */
public class SQLServerDriver implements Driver {
    @Override
    public Connection connect(String url, Properties properties) {
        return acceptsURL(url) ? ScriptedConnection.open() : null;
    }

    @Override
    public boolean acceptsURL(String url) {
        return url.startsWith("jdbc:sqlserver:");
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 12;
    }

    @Override
    public int getMinorVersion() {
        return 4;
    }

    @Override
    public boolean jdbcCompliant() {
        return true;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }
}
