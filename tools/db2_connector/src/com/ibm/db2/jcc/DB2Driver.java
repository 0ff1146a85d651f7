package com.ibm.db2.jcc;

import db2.ScriptedConnection;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.util.Properties;
import java.util.logging.Logger;

/** Stands in for IBM's driver, which the connector loads by this name and does not bring. */
public class DB2Driver implements Driver {
    private static final String STATE = "scripted.state";

    @Override
    public Connection connect(String url, Properties properties) {
        return acceptsURL(url) ? ScriptedConnection.open(properties.getProperty(STATE)) : null;
    }

    @Override
    public boolean acceptsURL(String url) {
        return url.startsWith("jdbc:db2:");
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 4;
    }

    @Override
    public int getMinorVersion() {
        return 33;
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
